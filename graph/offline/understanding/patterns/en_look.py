"""English: listing and inspecting."""

from typing import Final

from graph.offline.understanding.patterns.row import Row, row

ROWS: Final[tuple[Row, ...]] = (
    *row(
        "list_folder",
        "[(show|show me|list|give me|tell me|see|view|open|look in|look into) ](what's in |what is in |what's "
        "inside |what is inside |everything in |all in |what i have in |what i deleted from |)?{the}(trash|bin|"
        "recycle bin|trash can|deleted (files|items|documents|things))",
        "(what|which files|which items|what things) (did|have) (i|we) (delete|deleted|trash|trashed|removed|threw "
        "away)[ recently| lately]",
        "(what|which files|what files) (is|are|do i have) in {the}(trash|bin|recycle bin|trash can)",
        topic="trash",
    ),
    *row(
        "list_folder",
        "(what|what's|what is|which things|which folders|which files|what files|which documents|what folders|who)( "
        "are| is| has| have| was| were|)( been|)? shared with (me|us)[ by <_>]",
        "[(show|show me|list|give me|see|view) ]{the}((files|documents|items|things|stuff|everything|folders)( "
        "that are| that is| which are|) )?shared with (me|us)",
        "(what|which files|which documents) (did|have) (others|other people|people|someone|my colleagues|they) "
        "(share|shared) with me",
        topic="shared",
    ),
    *row(
        "list_versions",
        "[(list|show|show me|display|give me|see|view|get|print|what are|tell me|which are|what is|what's|look at|"
        "check) ]{the}(older |old |previous |earlier |past |available |existing |saved )?(versions?|revisions?|"
        "version history|revision history|edit history|file history|history)[ (of|for|to) <target>]",
        "(what|which) (older |old |previous |earlier |)(versions|revisions) (does|do|has|have|of) <target>( have| "
        "has| got| there| exist|)[ are there| exist]",
        "(what|which) (versions|revisions) (are there|exist|are available)[ (of|for) <target>]",
        "(are there|is there|does it have|do you have|do i have) {the}(older|previous|earlier|other)( versions?| "
        "revisions?)[ (of|for) <target>]",
        "how many (versions|revisions) (does|do|of|are there of) <target>( have| exist| are there|)",
        "(list|show|show me) <target>'s (versions|revisions|history|version history)",
        "<target:named> (version history|versions|revisions)",
    ),
    *row(
        "tree",
        "[(list|show|show me|display|give me|print|draw|see|view|what is|what's|get) ]{the}(folder tree|tree|"
        "directory tree|tree view|folder structure|directory structure|structure|file tree|hierarchy|folder "
        "hierarchy|tree structure|folder layout|file structure)( of folders| of files|)[ (of|for|in|below|under|"
        "from) <target>]",
        "(how|in what way) (is|are) <target> (organised|organized|structured|arranged|laid out|set up)",
        "(list|show|show me) <target> (recursively|as a tree|with subfolders|with all subfolders|and its subfolders)",
        "(what|which) (folders|subfolders) (are there|do i have|exist)[ (in|under|below) <target>]",
    ),
    *row(
        "info",
        "(how|what) (big|large|heavy|long) (is|are) <target:named>",
        "(how|what) (big|large) is {the}(file|document|folder) <target>",
        "(what|what's|how)( is|) {the}(size|file size) of <target>",
        "when (was|were|did) <target> (last |recently |)(modified|changed|edited|updated|created|uploaded|touched|"
        "added|written)",
        "(who|which person) (owns|created|made|uploaded|is the owner of|has created|wrote|edited) <target:named>",
        "(what|what's|who|who's)( is|) {the}(owner|type|format|path|location|creation date|modification date) of "
        "<target:named>",
        "[(show|show me|give me|tell me|list|display|get|view|see) ]{the}(details|properties|metadata|info|"
        "information|file info|file details|meta data|attributes|facts)( about| of| for| on) <target:named>",
        "what (type|kind|sort) of (file|document) is <target>",
    ),
    *row(
        "list_changes",
        "(what|which) (changes|edits|modifications|updates) (were|have been|are|got|was|did i) (made|done|make|"
        "applied) (to|in|on) <target>",
        "(what|what all|what has|what's|what have) (has |have |)?(been |)(changed|happened|new|modified|been done|"
        "going on)[ (lately|recently|today|yesterday|this week|since <_>|in my drive|here|in the drive|last|in the "
        "last <_>)][ (lately|recently|today|yesterday|this week|here)]",
        "(what|which) (changes|edits|modifications|actions|things)? ?(did|have|were) (you|i|we|made|done)( been|) "
        "?(done|do|made|make|changed|change|recently|lately|today|modified|modify)[ (yesterday|today|lately|"
        "recently|last week|this week|so far|just now|in my drive|here|to my drive|to my files)]",
        "[(list|show|show me|display|give me|see|view|get|what are|print|what were|tell me|check) ]{the}(recent|"
        "latest|last|newest|most recent|past)( \\d+|) (changes?|activity|activities|actions?|edits?|modifications?|"
        "operations?|history|events?|updates)[ (to|of|in|on|for) <target>][ you made]",
        "[(list|show|show me|display|give me|view|see|get) ]{the}(activity|activity log|change log|changelog|"
        "changes|journal|audit log|audit trail|log|history of changes)[ (of|for|to|in|on) <target>]",
        "(show|tell|list)( me|) what (you|i|we)( have|'ve|) (changed|done|did|modified|moved|deleted|been doing)[ <_>]",
        "(anything|something|what's|what is|is there anything) new[ (in|on|with) <_>]",
        "how (was|has|did|have) (my drive|the drive|anything|things|my files)( been|) (changed|change|modified|"
        "evolved|developed)[ <_>]",
        "(who|what) (changed|edited|modified|touched) <target>",
    ),
    *row(
        "list_folder",
        "(what|which) (files|documents|folders|items|stuff|things|files and folders)( do i have| have i got| are "
        "there| are here| exist| do i own| can i see)[ here| in my drive| in total]",
        "(list|show|show me|give me|see|display|view|let me see) {the}(files|documents|folders|items|stuff|things|"
        "files and folders|drive|listing|content|contents)[ (here|i have|in here|that i have)]",
        "what do i have( here| in my drive|)",
        "what's here|what is here|(ls|dir|list)",
        "(my|all my) (files|documents|folders|drive)",
        here=True,
    ),
    *row(
        "list_folder",
        "(what|what's|what is|which files|what files|which documents|what documents|what stuff|what all|what "
        "things|anything|which items|what items)( is| are| do i have| have i got| can i find| does it have| do we "
        "have| lies| exists| exist|'s|) (in|inside|within|under|stored in|contained in|located in|there in|saved "
        "in) <target>",
        "(what|which files|what files|which documents|what documents)( do| have) (i|you|we) (have|got|keep|store|"
        "find)( stored| saved|)? (in|inside|under|within) <target>",
        "(give me|show me|tell me|get me|let me see) {the}(everything|all|whatever|all files|things|stuff)( that| "
        "which|)( is| are| sits?| lies?| lives?|)( stored| saved|) (in|inside|under) <target>",
        "(which|what) (things|folders|notes|papers|pictures|photos|images|items|stuff|documents|files|records)( is|"
        " are| lie| lies| have i| do i have|)( stored| saved| kept| located| put|) (in|inside|under|within) "
        "<target>",
        "(what|which files|what files|which documents)( does| do) <target> (contain|hold|have|include|have in it|"
        "hold inside)",
        "(show|list|show me|give me|tell me|let me see|display|see|view|look at)( me|) (what|what's|what is|which "
        "files are|what files are|what do i have|what i have|what we have|everything that is|all that is)( in| "
        "inside| under| within) <target>",
        "(list|enumerate|display) {the}(files and folders|contents?|files|documents|items|things|everything|"
        "subfolders|folders|names|entries|docs|all)( that are| which are|) (in|inside|of|within|under|from) "
        "<target>",
        "(list|enumerate|ls|dir) <target>",
        "(show|show me|give me|see|view|let me see|display|open|get) {the}(files and folders|contents?|files|"
        "documents|items|things|everything|entries|list of files|listing|file list)( that are| which are|) (in|"
        "inside|of|within|under|from) <target:folderlike>",
        "{the}(contents?|files|listing)( of| in) <target:folderlike>",
        "[(get|give|show|make|send|print)( me| us|) ]{the}(list|listing|overview|inventory) of {the}(stuff|things|"
        "files|documents|everything|contents?|items|all files|all)( that is| that are| sitting| stored| lying|)( "
        "in| inside| under| of) <target>",
        "(go to|open|show|show me|look into|look in|look inside|check|enter|browse|view|display|cd|peek into|see) "
        "{the}({folder}) <target>",
        "(go to|open|show|show me|look into|look in|look inside|check|enter|browse|view|display|peek into|cd) "
        "{the}<target> ({folder})",
        "(look into|look in|look inside|go to|browse|peek into|go into) <target>",
        "<target> (contains|has) what",
        "how many (files|documents|items|things|folders)( are| do i have|)( there|) (in|inside|under) <target>",
    ),
)
