"""English: creating, moving, renaming, deleting, restoring."""

from typing import Final

from graph.offline.patterns.row import Row, row

ROWS: Final[tuple[Row, ...]] = (
    *row(
        "create_folder",
        "(in|inside|within|under) <destination>,? {create} {a}{folder}( {called}|:|) <names>",
        "{create}( me| us|) {a}{folder} {called} <names> (in|inside|within|under|into) <destination>",
        "{create}( me| us|) {a}{folder}:? <names> (inside|within|under) <destination>",
        "{create}( me| us|) {a}{folder}:? <names:named> in <destination>",
        "{create}( me| us|) {a}{folder} (in|inside|within|under) <destination> {called} <names>",
        "{create}( me| us|) {a}{folder}( {called}|:| for| for the) <names>",
        "{create}( me| us|) {a}{folder} <names>",
        "{create}( me| us|) {a}<names> {folder}[ (in|inside|within|under) <destination>]",
        "(i need|we need|i want|i'd like|i would like|there should be|we want|i could use) {a}{folder}( {called}|:| "
        "for|) <names>"
        "[ (inside|within|under) <destination>]",
        "(new|another) {folder}( {called}|:| for|) <names>[ (inside|within|under) <destination>]",
        "mkdir( -p|) <names>",
    ),
    *row("create_folder", "{create} {a}{folder}", names_missing=True),
    *row(
        "create_file",
        "(save|store|put|write|keep) <content:quote> (as|in|into|to|under|in a file called|as a file called|in a new "
        "file called|"
        "to a file called|to a file named|into a file named|in a file named|in a note called) {a}[(file|document|"
        "note) ][{called} ]"
        "<names:named>[ (in|inside|into|under) <destination>]",
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
        "{rename} <target> (to|as|into|in) <name>",
        "{rename} <target:named> <name:named>",
        "(change|changing|set|edit|update|modify) {the}(name|title|file name|filename|folder name) of <target> (to|"
        "into|as) <name>",
        "(change|changing|set|update) <target>'s (name|title|file name|filename) (to|into|as) <name>",
        "(give|giving) <target> (the |a |another |a new )*(name|title) <name>",
        "(call|calling|name|naming) <target:thislike> <name>",
        "(call|calling|name|naming) <target:named> <name>",
        "<target> (should|must|needs to|has to|ought to|shall) be (called|named|renamed to|renamed|titled) <name>",
        "i want <target> (to be )?(called|named|renamed to|renamed) <name>",
        "mv <target:named> <name:named>",
    ),
    *row(
        "trash",
        "(move|put|throw|send|drag|drop|toss|chuck|moving|putting|throwing) <target:greedy> (to|in|into|out to|out "
        "into) {the}"
        "(trash|bin|recycle bin|trash can|garbage|rubbish|waste basket|dustbin|wastebasket)",
    ),
    *row(
        "replace",
        "{correct} {the}<_> from <find> to <replace>",
        "({correct}|{replace}) <find> (to|into|->|→|=>|to read|to say) <replace>",
    ),
    *row(
        "move",
        "{move} <target> from <origin> (to|into|over to) <destination>",
        "{move} <target:greedy> {into} <destination>",
        "{move} <target> (in|under|inside) <destination>",
        "{move} <target>[ over] <destination:therelike>",
        "{move} <target> (back )?to where it was",
        "(i want|i'd like|i need|i would like|let's have|we want) <target> ({move_done}|in|into|under|to be "
        "{move_done}|to go|to be)"
        "( {into}|) <destination>",
        "<target> (should|must|needs to|has to|ought to|belongs?|goes|can|shall)( go| be| be {move_done}| live| be "
        "put|) "
        "({into}|in|with) <destination>",
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
        "(i want|i'd like|we want|i would like) <target> (to be )?(gone|{trash_done}|removed)",
        "(rm|rm -r|rm -rf|del|rmdir) <target>",
        "make <target> (go away|disappear)",
    ),
    *row(
        "restore",
        "{restore} <target>[ again] (from|out of) {the}(trash|bin|recycle bin|trash can|deleted items|garbage)",
        "{restore} {the}(file|folder|document|thing|one|files|stuff)( that| which|) (i|you|we) (have |'ve |)(just |"
        "accidentally |)"
        "(deleted|removed|trashed|threw away)[ <_>]",
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
