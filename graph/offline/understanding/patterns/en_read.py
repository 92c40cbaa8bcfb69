"""English: finding, reading, asking, summarising."""

from typing import Final

from graph.offline.understanding.patterns.row import Row, row

ROWS: Final[tuple[Row, ...]] = (
    *row(
        "ask",
        "(what|does|do|did|is there anything|is anything|anything)( does| do| did|) <target>( say| mention| tell( "
        "us| me|)| state| specify| explain| write| contain| have to say| cover)( anything| something| us| me|)? "
        "(about|on|regarding|concerning|with regard to|as to) <query>",
        "is there (anything|something) (about|on|regarding) <query> in <target>",
        "(does|do) <target> (mention|cover|say|specify|state|explain|discuss|contain|allow|require|forbid|permit|"
        "include) <query>",
    ),
    *row(
        "summarise",
        "(summarise|summarize|sum up|recap|condense|boil) <target> (up |down |)(in|into|to) (a |an |one |two |"
        "three |some |the |few |short |brief |key |main |\\d+ |couple |of |bullet |just )*(sentences?|words?|"
        "lines?|points?|bullets?|paragraphs?|summary|overview|essentials|nutshell|list)",
        "(summarise|summarize|sum up|recap|condense|outline|boil down|digest|shorten|summarising|summarizing|tldr|"
        "tl;?dr|summary|gist)( of|:|) {the}(contents?|text|main points|key points|gist|essentials|substance) (of|"
        "in|from) <target>",
        "(summarise|summarize|sum up|recap|condense|outline|boil down|digest|shorten|summarising|summarizing|tldr|"
        "tl;?dr|summary|gist|brief me on|brief us on|fill me in on|catch me up on|bring me up to speed on|walk me "
        "through|give me a briefing on|tl;?dr of|tl;?dr for)( of| on| for|:|) <target>",
        "(sum|summing|boil|boiling) <target> (up|down)",
        "(give|show|write|tell|make|create|prepare|produce|provide|draft|get|send|do|offer|compile|generate|need|"
        "want|have|i need|i want|i'd like|can i get|can i have|what is|what's|what are|what're|what was|what "
        "were)( me| us| you|) (just |only |){the}{brief}{gist}( of| on| from| for| in| about|:) <target>",
        "(give|show|write|tell|make|create|prepare|produce|provide|get|do|i need|i want|i'd like)( me| us|) (just |"
        "only |){the}{brief}{gist}( of it| of that| of this|)",
        "{the}{brief}{gist}( of| on| from| for| in|:) <target>",
        "(what|what's|what is)( is| are|) <target> (about|all about|saying|on about)[ in short| in a nutshell| in "
        "brief| roughly]",
        "(explain|describe|introduce|outline) <target:named>( to me| to us| for me|)",
        "(explain|describe) (this|the) (document|file|text)",
        "(tell|give|show|send|list)( me| us|) {the}{brief}{gist}",
        "(what are|what is|what's) {the}{brief}{gist}( of it| of that| in it|)",
        "(in (one|a|two|three|a few|a couple of|\\w+) (sentences?|words?|lines?|paragraphs?)|in short|in brief|"
        "briefly|shortly),? (what is|what's|what does|summarise|summarize|describe|explain) <target>( about| say| "
        "cover|)",
        "(in short|in brief|in a nutshell|briefly|long story short),? (what (does|do) <target> say|what is <_> about)",
        "(what|what's|what is|what was)( is|) (said|written|stated|mentioned|described|noted|going on) in <target>",
        "what (do i|should i|must i|do we) need to know (about|from) <target>",
        "<target>,? (in short|in brief|in a nutshell|tl;?dr|summarised|summarized|please summarise|please summarize)",
    ),
    *row(
        "summarise",
        "what (does|do) <target> (say|cover|contain|tell us|tell me|talk about|discuss|deal with|describe|state|mean)",
        topical=True,
    ),
    *row(
        "summarise",
        "(summarise|summarize|sum up|recap|tl;?dr|summary|summarising|sum it up)[ briefly| please]",
        bare=True,
    ),
    *row(
        "find",
        "(find|locate|dig|track|hunt|search|get|look) (it|that|that one|them|this)( up| out| down| for me|)",
        "[(show|show me|there is|there's|there are|list|give me|get|get me|i need|i want|bring up|display|is there|"
        "are there|do i have|do we have|have i got|have we got|got|have you got|i'm looking for|see|open|fetch|"
        "fetch me|any chance there is|i'm searching for|looking for|pull up|there must be|there should be) "
        "]{the}({doc}|anything|something|everything|stuff|material|info|information|one)s? {about} <topic>",
        "(which|what)( of my| of the|) ({doc})( in my drive| of mine|) (mentions?|mentioning|talks? about|"
        "discuss(es)?|contains?|is about|are about|covers?|deals? with|has|have|includes?|refers? to|says? "
        "something about|speaks? of|is on|explains?|describes?) <query>",
        "(which|what) {doc}( do| did| are| have| has|) (we|i|you|there|they)( have| got| find| keep| own|) {about} "
        "<topic>",
        "(is|are) <query> (saved|stored|kept|located|filed|somewhere|anywhere|in (my|the|our) drive|around)( "
        "somewhere| anywhere| here|)( in (my|the|our) drive|)",
        "(who|what) (mentions?|talks about) <query>",
        "(is there|are there|do i have|do we have|have i got|have we) {the}(file|document|doc|note|folder|thing|"
        "files|documents|notes|folders) ({called}|for|with|from) <query>",
        "(do i have|do we have|have i got|have we got|is there) (a|an|any|some|the) <query>( file| document| "
        "folder| somewhere| here|)",
        "(do i|do we) (still )?have <query:named>",
        "where( is| are|'s|'re| did i (put|save|leave|store|place|file)| have i (put|saved|left|stored)| can i "
        "find| do i find| could i find| do i keep| do you have| do i have| does| was| were| might| would i find) "
        "<query>( be| located| stored| saved| go| live|)",
        "(where|in which folder|in what folder) <query> (is|are|lives)",
        "(i'm|i am|we're|we are) (looking|searching) for <query>",
        "(i|we) (can't|cannot|can not|could not|couldn't|don't|do not) (find|locate|see) <query>",
        "(i|we)( have|) (lost|misplaced|mislaid) <query>",
        "(which|what) folder (is|are|contains|has) <query>( in|)",
        "(search|search through|look through|go through|scan|look in|look into|search in|query) (my drive|the "
        "drive|my files|my documents|all files|all my files|everything|all documents) for <query>",
        "(search|look) (in|inside|through|within) <destination> for <query>",
        "(search|look for|find|look up|search for) <query> (in|inside|within) {the}(folder <destination>)",
        "{find}( me| us|) <query>",
        "(fetch|get|bring)( me|) (the|my|that|our) <query>",
        "(has anyone|did anyone|did i|did we|have i|have we) (write|written|wrote|save|saved|store|stored) "
        "(anything|something|a note|a document) about <query>",
        "grep <query>",
    ),
    *row(
        "read",
        "(read|open|show|show me|display|print|print out|cat|view|see|pull up|bring up|look at|preview|give me|let "
        "me see|let me read|read me|read out|get|let me view|let me have a look at|have a look at|take a look at|"
        "reading|opening|showing)( me|) {the}(full |whole |entire |complete |raw |)(contents?|text|body|beginning|"
        "full text|first lines|start)( of| in| from) <target>",
        "(what's|what is) (written|the text|the content)( in| of) <target>",
        "(let me see|let me read|let me view|let me have a look at|have a look at|take a look at|read out|read me|"
        "read out loud|read aloud|read through|i want to see|i want to read|i'd like to see|i'd like to read|i "
        "need to see) <target>",
        "{read}( to me|) <target>",
        "{read}( me|) <target>",
    ),
)
