"""English: signs of what is wanted, wherever they stand in a sentence. Tried when no pattern fits the whole of it."""

from typing import Final

from graph.offline.understanding.intents import LIKELY
from graph.offline.understanding.patterns.row import Row, row

ROWS: Final[tuple[Row, ...]] = (
    *row(
        "replace",
        "<_:rest>(write|put|use|say|type|have|prefer) <replace:quote> instead of <find:quote><_:rest>",
        "<_:rest>(isn't|is not|aren't|are not|not|wasn't|shouldn't be) <find> but( rather| instead|) <replace>",
        "<_:rest>(make|turn|get) <find:quote>( into| to| become|) <replace:quote><_:rest>",
        "<_:rest><find:quote> (becomes?|turns? into|is now|has to become|gets changed to|->) <replace:quote><_:rest>",
        confidence=LIKELY,
    ),
    *row(
        "list_shares",
        "<_:rest>(who|whom|who's|anyone|anybody|which people|somebody|someone)<_:rest>(access|see|open|view|edit|"
        "read|get into|get at|enter|look into|shared?|sharing)<_:rest> <target:item><_:rest>",
        confidence=LIKELY,
    ),
    *row(
        "list_versions",
        "<_:rest><target:item><_:rest>(older|old|previous|earlier|past|other) (versions?|revisions?)<_:rest>",
        "<_:rest>(older|old|previous|earlier|past|other|all) (versions|revisions)<_:rest> <target:item><_:rest>",
        confidence=LIKELY,
    ),
    *row(
        "restore_version",
        "<_:rest>{version} ?<n:number>( of <target:item>|)<_:rest>(back|again|better|restore|instead|prefer|"
        "nicer)<_:rest>",
        "<_:rest>(back|restore|prefer|liked|want|bring|use|return|revert)<_:rest>{version} ?<n:number>( of "
        "<target:item>|)<_:rest>",
        confidence=LIKELY,
    ),
    *row(
        "list_changes",
        "<_:rest>(changes|edits|modifications|updates)<_:rest>(made|done|happened|there)( to| in| on|) "
        "<target:item><_:rest>",
        "<_:rest>(changed|edited|modified|happened|touched|been going on)<_:rest>(lately|recently|today|yesterday|"
        "this week|last week|this morning|while i was away|since <_>)<_:rest>",
        confidence=LIKELY,
    ),
    *row(
        "restore",
        "<_:rest><target:item> (back |)(out of|from) {the}(bin|trash|trash can|recycle bin)<_:rest>",
        "<_:rest>(have|get|want|need|bring|give me) <target:item> back<_:rest>",
        "<_:rest>(deleted|removed|trashed|threw away|lost) <target:item><_:rest>(by mistake|by accident|"
        "accidentally|back)<_:rest>",
        confidence=LIKELY,
    ),
    *row(
        "create_folder",
        "<_:rest>(need|want|create|make|have|add|set up|require)<_:rest>({folder}) ({called}) <names>( (in|inside|"
        "under|within) <destination>|)",
        "<_:rest>({folder}) ({called} |)<names:quote> (to|in|inside|under|within) <destination>",
        confidence=LIKELY,
    ),
    *row(
        "create_file",
        "<_:rest>({doc}) ({called} |)<names:fileword> (with|containing|saying|that says)( the (text|content|"
        "words?)|) <content:quote><_:rest>",
        "(write|put|save|store|note) <content:quote> (into|in|to|as) (a|a new|the new|a text) ({doc}) ({called} |"
        ")<names:fileword>",
        confidence=LIKELY,
    ),
    *row(
        "rename",
        "<_:rest><target:item><_:rest>(renamed?|called|call it|named?|make it|name it|title it|new name)( to| is| "
        "should be|) <name:fileword><_:rest>",
        "<_:rest>(folder|directory) <target> (be |)(renamed|called|named)( to|) <name>",
        confidence=LIKELY,
    ),
    *row(
        "move",
        "<_:rest><target:item><_:rest>(belongs?|should be|should go|goes|moved?|put|placed|filed)( over|) (in|into|"
        "to|inside|under) <destination>",
        confidence=LIKELY,
    ),
    *row(
        "trash",
        "<_:rest>(get rid of|rid of|delete|deleted|remove|trash|throw away|discard|bin) <target:item><_:rest>",
        confidence=LIKELY,
    ),
    *row(
        "summarise",
        "<_:rest>({gist}|essentials|cliff ?notes|short form|nutshell|summarise|summarize|condensed?)( of| on| for| "
        "from| in|)<_:rest> <target:item><_:rest>",
        "<_:rest><target:item><_:rest>({gist}|essentials|cliff ?notes|nutshell|in short|in brief|briefly|important "
        "points)<_:rest>",
        "<_:rest>(break down|walk me through|fill me in on|get me up to speed on|bring me up to speed on|what "
        "should i know about) <target:item><_:rest>",
        "<_:rest>({gist}|short version|essentials|nutshell)( of| on| for|) <target:currentlike><_:rest>",
        confidence=LIKELY,
    ),
    *row(
        "list_folder",
        "<_:rest>(what|which|list|overview|show|see|contents?|look|inventory)<_:rest>(in|inside|under|of|from|into|"
        "through) (the |my )?<target:folderitem><_:rest>",
        "<_:rest>(overview|list|listing|inventory) of {the}(files|documents|things|stuff|contents?|items) (in|"
        "inside|under|from) <target>",
        "(what|which)( else| other \\w+| more|) (is|are|'s)( there|) (in|inside|under) <target>",
        confidence=LIKELY,
    ),
    *row(
        "find",
        "(which|what|in which|in what) ({folder}|{doc})( did| have|) (i|we)( have|) (put|saved?|stored?|leave|left|"
        "file|keep|kept|wrote|written|noted|note) <query>( in| under| to| about| down|)",
        "(what|where) (have|did) (i|we) (written|wrote|write|noted|note|saved|save|stored)( down|) (about|on) <topic>",
        "<_:rest>(a|any|some|the) ({doc}) {about} <topic>( in here| somewhere| here| in my drive|)",
        confidence=LIKELY,
    ),
    *row(
        "undo",
        "<_:rest>(undo|revert|reverse|roll back|take back)( it| that| this| everything|)<_:rest>",
        confidence=LIKELY,
    ),
)
