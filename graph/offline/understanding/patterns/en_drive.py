"""English: creating, moving, renaming, deleting, restoring."""

from typing import Final

from graph.offline.understanding.patterns.row import Row, row

ROWS: Final[tuple[Row, ...]] = (
    *row(
        "create_folder",
        "{create}( me| us|) {a}{folder} ({called} |)<names:quote> (to|in|inside|under|within) <destination>",
        "(in|inside|within|under) <destination>,? {create} {a}{folder}( {called}|:|) <names>",
        "{create}( me| us|) {a}{folder} {called} <names> (in|inside|within|under|into) <destination>",
        "{create}( me| us|) {a}{folder}:? <names> (inside|within|under) <destination>",
        "{create}( me| us|) {a}{folder}:? <names> in <destination>",
        "{create}( me| us|) {a}{folder} (in|inside|within|under) <destination> {called} <names>",
        "{create}( me| us|) {a}{folder}( {called}|:|,| for| for the) <names>",
        "{create}( me| us|) {a}{folder} <names>",
        "{create}( me| us|) {a}<names> {folder}[ (in|inside|within|under) <destination>]",
        "(have|get|i need|we need|i want|i'd like|i would like|there should be|we want|i could use) {a}{folder}( "
        "{called}|:| for|) <names>[ (inside|within|under) <destination>]",
        "(new|another) {folder}( {called}|:| for|) <names>[ (inside|within|under) <destination>]",
        "mkdir( -p|) <names>",
    ),
    *row(
        "create_folder",
        "({create}|i need|we need|i want|we want|i'd like|there should be|have)( me| us|) {a}{folder}",
        names_missing=True,
    ),
    *row(
        "create_file",
        "{write}( me| us|) {a}({doc} |)({called} |)<names:named> (with|containing|saying) <content:quote>( in it| "
        "inside| in there| as content| as text| as its content)",
        "(save|store|write|put|note) (this|the following|that|it) (as|in|under|to|into|down as) {a}[{doc} "
        "][{called} ]<names:named>:? <content:quote>",
        "(save|store|put|write|keep|write down|note down|jot down|note|record|put down) <content:quote> (as|in|"
        "into|to|under|in a file called|as a file called|in a new file called|to a file called|to a file named|"
        "into a file named|in a file named|in a note called) {a}[(file|document|note) ][{called} ]<names:named>[ "
        "(in|inside|into|under) <destination>]",
        "{write}( me| us|) {a}[{doc} ][{called} ]<names:named>[ (in|inside|into|under) <destination>],? {saying}:? "
        "<content>",
        "(new|another) {doc}( {called}|:|) <names:named>[ (in|inside|into|under) <destination>],? {saying}:? <content>",
        "{write}( me| us|) {a}{doc} {called} <names>[ (in|inside|into|under) <destination>],? {saying}:? <content>",
        "(in|inside) <destination>,? {write} {a}[{doc} ][{called} ]<names:named>,? {saying}:? <content>",
    ),
    *row(
        "create_file",
        "{write}( me| us|) {a}{doc} {called} <names:named>[ (in|inside|into|under) <destination>]",
        "{write}( me| us|) {a}{doc} <names:named>[ (in|inside|into|under) <destination>]",
        "{write}( me| us|) {a}<names:named>[ (in|inside|into|under) <destination>]",
        "(new|another) {doc}( {called}|:|) <names:named>[ (in|inside|into|under) <destination>]",
        "{write}( me| us|) {a}{doc} {called} <names>",
        "touch <names:named>",
        content="",
    ),
    *row(
        "rename",
        "{rename} (to|as|into) <name>",
        "{rename} <target> (to|as|into|in) <name>",
        "{rename} <target:named> <name:named>",
        "(change|changing|set|edit|update|modify) {the}(name|title|file name|filename|folder name) of <target> (to|"
        "into|as) <name>",
        "(change|changing|set|update) <target>'s (name|title|file name|filename) (to|into|as) <name>",
        "(give|giving) <target> (the |a |another |new |better |nicer )*(name|title):? <name>",
        "(make|title) <target:thislike> <name:fileword>",
        "(call|calling|name|naming) <target:thislike> <name>",
        "(call|calling|name|naming) <target:named> <name>",
        "<target> (should|must|needs to|has to|ought to|shall|will|is to)( from now on| now| henceforth| please| "
        "also|) be (called|named|renamed to|renamed|titled) <name>",
        "i want <target> (to be )?(called|named|renamed to|renamed) <name>",
        "mv <target:named> <name:named>",
    ),
    *row(
        "trash",
        "(i want|i'd like|we want|i would like) <target> (to be )?(gone|{trash_done}|removed)",
        "(move|put|throw|send|drag|drop|toss|chuck|tidy|tidy away|clear away|moving|putting|throwing) "
        "<target:greedy> (to|in|into|out to|out into) {the}(trash|bin|recycle bin|trash can|garbage|rubbish|waste "
        "basket|dustbin|wastebasket)",
    ),
    *row(
        "replace",
        "(i need|i want|i'd like|i would like|please have|have) <find> (changed|replaced|swapped|updated|corrected|"
        "turned|switched) (to|with|by|into|for) <replace>",
        "(every|all|each) <find> (should|must|has to|have to|needs to|need to) (become|be|read|say) <replace>",
        "<find> (should|must|needs to|has to|have to|need to) (become|be changed to|be replaced (by|with)|be "
        "turned into|be updated to) <replace>",
        "{correct} {the}<_> from <find> to <replace>",
        "({correct}|{replace}) <find> (to|into|->|→|=>|to read|to say) <replace>",
    ),
    *row(
        "move",
        "(get|getting) <target:named> (into|to|over to|inside) <destination>",
        "{move} (to|into) <destination>",
        "<target:named> (->|→|=>) <destination>",
        "{move} <target> from <origin> (to|into|over to) <destination>",
        "{move} <target:greedy> {into} <destination>",
        "{move} <target> (in|under|inside) <destination>",
        "{move} <target>[ over] <destination:therelike>",
        "{move} <target> (back )?to where it was",
        "(i want|i'd like|i need|i would like|let's have|we want) <target> ({move_done}|in|into|under|to be "
        "{move_done}|to go|to be)( {into}|) <destination>",
        "<target> (should|must|needs to|has to|ought to|belongs?|goes|can|shall)( go| be| end up| land| wind up| "
        "move| be {move_done}| live| be put|) ({into}|in|with) <destination>",
        "(in|into|to|inside) <destination>,? {move} <target>",
        "{move} {into} <destination> <target>",
        "(send|archive) <target:named> (to|in|into|under) {the}[folder ]<destination>",
        "(send|archive) <target> (to|in|into|under) the folder <destination>",
    ),
    *row(
        "trash",
        "{trash} <target>",
        "<target> (should|must|can|may|needs to|has to|ought to|could|shall)( now| also| all|) be {trash_done}",
        "<target> (should|can|must|may|needs to|has to) (go|go away|disappear|vanish)",
        "(i|we) (don't|do not|no longer) (need|want) <target>( any ?more| any longer|)",
        "(rm|rm -r|rm -rf|del|rmdir) <target>",
        "make <target> (go away|disappear)",
    ),
    *row(
        "restore",
        "i( have|'ve|)( just|) ?(accidentally|mistakenly|unintentionally|wrongly)( just|) (deleted|removed|lost|"
        "trashed|erased) <target>",
        "i( have|'ve|)( just|) (deleted|removed|lost|trashed|erased) <target> (by mistake|by accident|accidentally)",
        "{restore} <target>[ again] (from|out of) {the}(trash|bin|recycle bin|trash can|deleted items|garbage)",
        "{restore} {the}(file|folder|document|thing|one|files|stuff)( that| which|) (i|you|we) (have |'ve |)(just |"
        "accidentally |)(deleted|removed|trashed|threw away)[ <_>]",
        "{restore} <target>",
        "(get|bring|put|pull|fetch|take) <target> back[ (from|out of) {the}(trash|bin)]",
        "(take|get|pull|fetch|move) <target> (out of|from) {the}(trash|bin|recycle bin|trash can)",
        "<target> (should|must|needs to|has to) be (restored|brought back|recovered|undeleted)",
        "i (want|need) <target> back",
    ),
)

EMPTYING: Final[tuple[Row, ...]] = row(
    "trash",
    "{empty} {the}({folder}) <emptied>",
    "{empty} {the}<emptied> {folder}",
    "{empty} {the}<emptied>",
    "(make|get) <emptied> empty",
    "<emptied> (should|must|needs to|has to) be (emptied|cleared|cleaned out|empty)",
)
