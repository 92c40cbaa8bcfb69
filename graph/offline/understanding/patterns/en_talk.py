"""English: talk about the assistant, and requests that a rule-based model can't meet."""

from typing import Final

from graph.offline.understanding.intents import GUESS
from graph.offline.understanding.patterns.row import Row, row

ROWS: Final[tuple[Row, ...]] = (
    *row(
        "greet",
        "(hi|hello|hey|howdy|greetings|good (morning|afternoon|evening|day)|hiya|yo|sup|what's up|how are you|"
        "how's it going|how do you do|nice to meet you)[ there| again| everyone| assistant]",
        "(bye|goodbye|see you|good night|see you later)",
    ),
    *row(
        "thanks",
        "[many |great,? |perfect,? |ok,? |cool,? |awesome,? ](thanks|thank you|thx|ty|cheers|much appreciated)[ a "
        "lot| so much| very much| again| a million| a bunch]",
        "(thanks|thank you)[ <_>]",
        "(that's|that is|it's) (great|perfect|good|fine|helpful|all)|(great|perfect|well done|good job|nice|"
        "awesome|excellent)",
    ),
    *row(
        "whoami",
        "who am i[ logged in as| signed in as| here]",
        "(which|what) (account|user|login|identity) (am i|is this|do i|are we)[ <_>]",
        "(what's|what is|show|tell me) my (email|e-mail|account|user|login|user name|username|identity)[ address| "
        "name][ <_>]",
        "(am i|are we) logged in[ <_>]",
        "whoami",
        "(what|which) (permissions|scopes|rights) do i have",
    ),
    *row(
        "identity",
        "(who|what) (are|r) you[ exactly| really]",
        "(what|which) (ai |language |llm |)(model|llm|ai|version|system|engine) (are you|is this|do you use|am i "
        "talking to|is behind this|is used|powers you|are you running|runs here)[ <_>]",
        "are you [(a|an|the) ](chat ?gpt|gpt|claude|gemini|llama|human|robot|bot|ai|real|llm|model|language model|"
        "artificial intelligence|computer|person|machine|online|offline)[ <_>]",
        "(what's|what is) your name",
        "(tell me about|introduce) yourself",
        "who (made|built|created|trained) you",
        "what are your limit(s|ations)",
    ),
    *row(
        "help",
        "help[ me][ out][ please| a bit]",
        "(can|could|would) you (please )?help[ me][ out][ please]",
        "(what|which things) (can|could|do|are) (you|i) (do|ask|able to do|help with|help me with|say|capable of|"
        "offer)[ <_>]",
        "how (do|can|should|does) (i|you|this|it|one) (use|work|works|operate)[ <_>]",
        "(show|list|give me|what are) [your |the |some ](commands|abilities|capabilities|features|options|"
        "instructions|examples)",
        "(how can|what can) you help[ me][ with]",
        "(i need|i could use) [some ]help",
        "(i don't know|no idea) what to (say|ask|do)",
        "how (do|can|could|would|should) (i|we|you) (delete|remove|move|share|rename|create|make|restore|undo|find|"
        "search|edit|replace|unshare|upload|summarise|summarize|read|open|list|get access|give access|add)[ <_>]",
    ),
    *row(
        "confirm",
        "(yes|yep|yeah|sure|go ahead|do it|approve|approved|confirm|confirmed|agreed|i agree|proceed|continue)",
    ),
    *row(
        "decline",
        "(no|nope|cancel|stop|don't|do not|abort|forget it|reject|rejected|never mind|nevermind|leave it)[ it| that]",
    ),
    *row(
        "beyond",
        "(permanently|irrevocably|forever|completely) (delete|remove|erase|purge|destroy)[ <_>]",
        "(delete|remove|erase|purge|destroy) <_> (permanently|forever|for good|irrevocably|beyond recovery)",
        "(empty|purge|clear) the (trash|bin|recycle bin|trash can|rubbish bin)",
        topic="purge",
    ),
    *row(
        "beyond",
        "(translate|render|localise|localize)[ <_>]",
        "<_> (translated|in)[ (to|into)] (french|german|spanish|chinese|english|italian|japanese|korean|russian) "
        "please",
        "(what does|what is|how do you say) <_> (mean )?in (french|german|spanish|chinese|english|italian|japanese|"
        "korean)",
        topic="translate",
    ),
    *row(
        "beyond",
        "(write|compose|draft|generate|make up|come up with|invent|create)( me|)( a| an| some| another| the|)( "
        "short| long| funny| nice| new| little| formal| polite| catchy|)* (poem|story|essay|joke|song|haiku|speech|"
        "blog post|novel|limerick|article|cover letter|press release|reply|email|e-mail|tweet|post|toast|rap|"
        "business plan|marketing plan|letter|slogan|tagline|headline|names?|ideas?|lyrics|code|script|program|"
        "function)s?[ (about|on|for|to|of|that|in|from|saying|with) <_>]",
        "(tell|sing)( me|) (a|another|some) (joke|story|song|riddle|fairy tale)[ <_>]",
        "(improve|rewrite|rephrase|reword|polish|proofread|paraphrase|simplify|beautify|edit|revise|lengthen|"
        "expand|elaborate)( on|) (the |this |my |that |its |it)*[(this|it|that|style|wording|grammar|tone|language|"
        "spelling|text|document|paragraph|sentence|prose|writing|introduction|conclusion|file|letter|essay|draft|"
        "section|first paragraph|last paragraph)][ (of|in|for|so|to|and|as|more) <_>]",
        "(make|get) (it|this|the text|this document|the document|this text) (sound |read |look |)(better|shorter|"
        "longer|nicer|more <_>|less <_>|friendlier|funnier|clearer|simpler)",
        "(check|fix|correct) {the}(grammar|spelling|typos|punctuation|style|errors|mistakes)[ <_>]",
        topic="write",
    ),
    *row(
        "beyond",
        "[what's |what is |how is |how's |will ](the |it )?(weather|weather forecast|rain)[ <_>]",
        "(what's|what is|tell me|show me) {the}(news|latest news|exchange rate|time|date|day|capital of <_>)[ "
        "(today|now|right now|it is|it)]",
        "{arithmetic}",
        "(book|order|buy|reserve|purchase|pay|call|phone|play|google|browse|download|install|schedule|remind|tweet|"
        "text) (me |a |an |the |some |my )*(flight|hotel|table|taxi|ticket|tickets|pizza|music|song|video|movie|"
        "meeting|appointment|reminder|room|car|train|internet|web|website|app|restaurant|reminder|alarm|timer|"
        "ubers?|food|to <_>|about <_>)[ <_>]",
        "remind me (to|tomorrow|at|in|on|every|next|tonight|later|when|after|before) <_>",
        "(set|create|add)( me|) (a|an) (reminder|alarm|timer|calendar event|calendar entry|appointment|meeting)[ <_>]",
        "(send|write|compose) (an |a |my )*(email|e-mail|mail|message|sms)[ <_>]",
        "(search|look up|google) <_> (on|in) (the )?(internet|web|google|wikipedia|online)",
        "(calculate|compute|solve) <_>",
        topic="world",
    ),
    *row(
        "beyond",
        "(convert|export|transform|turn|save) <_> (to|into|as)( a| an|) (pdf|docx|word|html|excel|xlsx|epub|csv|"
        "png|jpg|powerpoint|pptx|zip)[ file| document| format]",
        "(zip|unzip|compress|encrypt|decrypt|ocr|watermark|merge|combine|split) {the}<_>",
        "(copy|duplicate|clone|make a copy of|create a copy of|make a duplicate of) <_>",
        "(draw|paint|sketch|design|create|generate|make)( me|)( a| an|) (picture|image|drawing|logo|diagram|chart|"
        "graph|icon|photo|slide|presentation)s?[ (of|for|about|with|showing|from) <_>]",
        "(run|execute|compile|debug|deploy) <_>",
        topic="tool",
    ),
    *row(
        "beyond",
        "(sort|organise|organize|tidy|tidy up|clean up|restructure|declutter|arrange|reorganise|reorganize|"
        "categorise|categorize|classify|group) {the}(files|documents|drive|folders|stuff|folder|desktop|everything|"
        "mess|things|photos|<_> by <_>)[ <_>]",
        "(analyse|analyze|evaluate|review|critique|compare|contrast|assess|judge|rate) <_>",
        topic="judge",
    ),
    *row(
        "beyond",
        "(make|set) {mail} (the |an |a )?(owner|admin|administrator)[ <_>]",
        "(transfer|give) (the )?ownership <_>",
        "(share|make|publish) <_> (publicly|public|with everyone|with the public|with anyone|with the world|on the "
        "web)",
        "(create|make|get|give me|generate)( me|) (a|the) (public |sharing |share |shareable |download )?link[ <_>]",
        topic="share",
    ),
)

LAST: Final[tuple[Row, ...]] = (
    *row(
        "find",
        "(there is|there's|we have|i have|i've got) <query>",
        "(take|grab|pick|pick up|consider|have a look at|regarding|as for|concerning|about) <query>",
        confidence=GUESS,
    ),
    *row("decline", "(don't|do not|dont|never|please don't|you must not|you shouldn't|no need to|stop) <_>"),
    *row(
        "ask",
        "(what|when|who|whom|whose|which|why|how|is|are|was|were|am|do|does|did|can|could|may|must|should|will|"
        "would|has|have|what's|who's|when's|where's|how's|where) <_>",
        "(tell me|explain|explain to me|i want to know|i'd like to know|i wonder|do you know|let me know|find out|"
        "check|answer this|remind me|i'm wondering|wondering|check whether|look up) [if |whether |about ]<query>",
        "(according to|based on|given) <source>, <query>",
        "(per|as per) <source>, <query>",
    ),
)
