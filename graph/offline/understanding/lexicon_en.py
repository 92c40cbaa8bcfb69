"""English words, as data: politeness, pronouns, stop words, numbers."""

from typing import Final

FUNCTION_WORDS: Final = frozenset(
    """
    a about above according after again all also always am an and any anybody anyone anything are aren't around as
    at be because been before being between both but by can can't could couldn't did didn't do does doesn't doing
    don't done each either else ever every everything for from further get gets give got had has have having he
    her here hers him his how however i i'd i'll i'm i've if in inside into is isn't it it's its just let like
    many may me might more most much must my myself near need no nor not now of off on once one only onto or other
    our ours out over own per please really same say says shall she should so some somebody someone something such
    than that that's the their theirs them then there there's these they they're this those through to too under
    until up upon us very want was wasn't we we'd we'll we're were what what's when where where's whether which
    while who who's whom whose why will with within without won't would yes yet you you'd you'll you're your yours
    long often still anywhere mention mentions mentioned tell know
    """.split()  # noqa: SIM905 - a list of two hundred words reads better as a text
)

POLITE_START: Final = (
    "make sure that|ensure that|see to it that|make sure|ensure|scratch that|hi|hello|hey|hey there|hi there|ok|"
    "okay|so|well|now|alright|right|great|cool|yes|sure|please|pls|plz|kindly|just|quickly|actually|also|then|next|"
    "finally|afterwards|after that|first|secondly|thirdly|second|third|lastly|maybe|perhaps|good morning|good "
    "afternoon|good evening|dear assistant|assistant|and|could you|can you|would you|will you|can we|could we|can "
    "i|could i|may i|might i|you can|you could|you should|you may|i want you to|i just want to|i just want you to|"
    "i only want to|i just need to|i really want to|i just wanted to|i wanted to|i want to|i'd like you to|i'd "
    "like to|i would like you to|i would like to|i'd love to|i'd love you to|i need you to|i need to|i have to|i "
    "wish to|i'd appreciate it if you could|i would appreciate it if you could|i was wondering if you could|i "
    "wonder if you could|would it be ok to|would it be okay to|is it ok to|is it okay to|would it be possible for "
    "you to|any chance you could|would you be able to|are you able to|i think|i believe|i'm pretty sure|i'm sure|i "
    "am sure|i guess|i remember|i was wondering|i'm wondering|i changed my mind|scratch that|does anyone know|does "
    "anybody know|can anyone tell me|can anybody tell me|do you happen to know|on second thought|no wait|hold on|"
    "that's not what i wanted|that's not what i meant|that is not what i wanted|quick question|question|look(?=,)|"
    "listen(?=,)|let's|let us|go ahead and|go and|help me to|help me|be so kind as to|be so kind and|would you "
    "mind|do you mind|do me a favor and|do me a favour and|is it possible to|would it be possible to|it would be "
    "great if you could|if possible|if you can|if you could|we need to|we should|we want to|you need to|you must|"
    "try to|i'm trying to|i am trying to|it's time to|time to|feel free to|make sure to|make sure you|don't forget "
    "to|remember to|sorry|excuse me|oh|um|uh|hmm|never mind|nevermind|wait|oops|that was a mistake|that was wrong|"
    "my bad|no|thanks|for me|with that done|once done|when done|when that's done|when you're done|simply|would "
    "like to|would like you to"
)
POLITE_END: Final = (
    "please|pls|plz|thanks|thank you|thx|cheers|thanks a lot|thank you very much|many thanks|for me|for us|right "
    "now|now|asap|at once|immediately|if you can|if you could|if possible|would you|will you|could you|can you|ok|"
    "okay|right away|as soon as possible|quickly|real quick|too|as well|again please|when you have a moment|when "
    "you get a chance|somewhere|in my drive|on my drive|from my drive|in the drive|on the drive|in my files|among "
    "my files"
)

PRONOUNS: Final[dict[str, str]] = {
    "it": r"it|that|this|this one|that one|the one|the same|the same (?:file|document|thing)|(?:that|the|said) "
    r"(?:file|document|doc|"
    "note|item)|the (?:file|document|doc|one) (?:you|we) (?:just )?(?:found|created|made|moved|renamed|mentioned)|"
    "the result|"
    "the (?:new|renamed|moved|edited|found) (?:file|document|doc|one)",
    "there": r"there|in there|over there|that folder|the folder|the same folder|that directory|the directory|that "
    r"place|"
    "the new (?:folder|directory)|the (?:folder|directory) (?:you|we) (?:just )?(?:created|made)|said folder",
    "them": r"them|those|these|all of them|both|both of them|these files|those files|the files|the results|they|"
    r"all of those",
    "current file": r"(?:this|the current|the open|the opened|my current|the present) (?:document|file|doc|page|text|"
    r"note|paper|draft|"
    r"article|sheet|contract|one i have open|letter|report|memo)|the text|here|the document i have open|the file i "
    r"have open|"
    "what i have open|the whole (?:document|text|file)|the entire (?:document|text|file)|the body|current document|"
    "current file",
    "current folder": r"(?:this|the current|my current|the open) (?:folder|directory)|current folder|current "
    r"directory|my drive|the drive|my files|my folder|the root|root|the root folder|the top "
    r"level|top level|my documents|home|everything",
    "the summary": r"(?:the|this|that|your|my|its|a|an) (?:\w+ )?summary|summary|(?:the|that|this) (?:recap|"
    r"overview|gist|digest)",
}

SELECTION: Final = {
    "first": 1,
    "1st": 1,
    "one": 1,
    "1": 1,
    "second": 2,
    "2nd": 2,
    "two": 2,
    "2": 2,
    "third": 3,
    "3rd": 3,
    "three": 3,
    "3": 3,
    "fourth": 4,
    "4th": 4,
    "4": 4,
    "fifth": 5,
    "5th": 5,
    "5": 5,
    "last": -1,
}
NUMBERS: Final = {
    "one": 1,
    "first": 1,
    "two": 2,
    "second": 2,
    "three": 3,
    "third": 3,
    "four": 4,
    "fourth": 4,
    "five": 5,
    "fifth": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
}
