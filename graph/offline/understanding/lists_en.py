"""English word lists that patterns may name, as regular expressions."""

from typing import Final

LISTS: Final[dict[str, str]] = {
    "a": r"(?:(?:a|an|the|the following|this|another|one|two|three|four|five|six|\d+|some|several|my|our|new|brand "
    r"new|fresh|empty|blank|extra|separate)\s+)*",
    "the": r"(?:(?:the|my|our|a|an|any|deleted|trashed|removed|existing|all|all the|all my|all of the|all of my|"
    r"some|every|each|this|that|these|those|your)\s+)*",
    "folder": "folders?|director(?:y|ies)|subfolders?|dirs?",
    "doc": "documents?|files?|docs?|notes?|papers?|pages?|texts?|articles?|memos?|letters?|text files?|markdown "
    "files?|markdown documents?|text documents?|items?|spreadsheets?|pdfs?|things?",
    "called": "called|named|titled|entitled|with the name|with name|by the name of|by the name",
    "about": "about|on|regarding|concerning|covering|related to|relating to|dealing with|that deals? with|that "
    "mentions?|mentioning|that talks? about|that (?:is|are) about|on the topic of|on the subject of|with "
    "info on|discussing|with information (?:on|about)|which mentions?|that covers?|that (?:discuss|"
    "explains?)(?:es)?|that contains?|containing",
    "in": "in|inside|within|under|into|beneath|underneath|inside of",
    "into": "to|into|onto|over to|over into|in to|across to|down to|up to|inside|under",
    "end": r"(?:at|to|on) (?:the )?(?:very )?(?:end|bottom|back|tail)(?: of .+)?|below|afterwards",
    "start": r"(?:at|to|on|in) (?:the )?(?:very )?(?:start|beginning|top|front|head|first line)(?: of .+)?",
    "arithmetic": r"(?:what's |what is |how much is )?\d[\d. ]*(?:(?:plus|minus|times|divided by|[-+*/x^])[\d. ]+)+",
    "everyone": "anyone|anybody|everyone|everybody|someone|somebody|people|others|other people",
    "gist": "gist|essentials|bottom line|conclusions?|main findings?|key findings?|upshot|summary|overview|recap|"
    "digest|outline|synopsis|abstract|essence|short version|quick summary|short summary|brief summary|"
    "short overview|brief overview|quick overview|tl;?dr|key points|main points|main ideas|key takeaways|"
    "main takeaways|takeaways|highlights|big picture|bullet points|core message|main message|executive "
    "summary|rundown|quick rundown|key facts|lowdown",
    "brief": r"(?:[\w-]+ ){0,4}",
    "access": "access|rights?|permissions?|privileges?",
    "edit": "edit(?:ing|or)?|writ(?:e|ing)|chang(?:e|ing)|modify(?:ing)?|modif(?:y|ication)|collaborat(?:e|ing|"
    "ion)|work(?:ing)? on|contribut(?:e|ing)(?: to)?|full|update|updating|comment on",
    "view": "view(?:ing|er)?|read(?:ing|-only| only)?|see(?:ing)?|look(?:ing)? at|open(?:ing)?|access(?:ing)?|viewing",
    "saying": "(?:and )?(?:with|which has|that has|having) (?:the |this |some |as )?(?:following )?(?:content|"
    "contents|text|body|words?|line|sentence)s?|containing|that contains|that says|which says|saying|"
    "that reads|reading|and (?:write|put|type|add)(?: in it| into it|)?|with nothing but|whose "
    "(?:content|text) is|with|content is|contents?",
    "version": "versions?|revisions?|revs?|v",
}
