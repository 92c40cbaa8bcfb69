"""English: everything that changes the drive or a document."""

from typing import Final

from graph.offline.understanding.patterns.row import Row, row

ROWS: Final[tuple[Row, ...]] = (
    *row(
        "restore_version",
        "(revert|restore|roll back|rollback|go back|switch back|switch|return|reset|rewind|change back|set back|"
        "take|bring|get|roll|put|going back|reverting|restoring|move back|jump back|step back)[ <target>][ back] "
        "to {the}{version} ?<n:number>[ of <target_after>]",
        "(revert|restore|roll back|rollback|go back|switch back|return|reset|rewind|roll|bring|get|put|change|"
        "set)[ <target>][ back] to {the}<previous:previous>[ {version}][ of <target_after>]",
        "(restore|bring back|recover|get back|reinstate|use|reactivate|revert to|load) {the}{version} ?<n:number>[ "
        "(of|for|in) <target>][ again]",
        "(get|bring|put|have|take) {the}<previous:previous> {version}[ of <target>] back",
        "(restore|bring back|recover|get back|reinstate|use) {the}<previous:previous> {version}[ (of|for|in) "
        "<target>][ again]",
        "make {the}{version} ?<n:number>[ of <target>] {the}(current|latest|active)[ one| version][ again]",
        "i want {the}{version} ?<n:number>[ of <target>][ back]",
    ),
    *row(
        "undo",
        "{undo}[ it| that| this| everything| all| all of it| all of that| those| them| again]",
        "{undo} {the}(last|latest|previous|most recent|recent|recently made)? ?(change|changes|action|actions|step|"
        "steps|operation|edit|edits|thing|things|command|move|deletion|modification|modifications|run|stuff)s?[ "
        "you (just )?(made|did)| from before]",
        "{undo} (what|everything|all|whatever|the things?|all of what)( that|) (you|we|i) (have |'ve |)(just |last "
        "|)(did|done|made|changed|deleted|moved)[ <_>]",
        "{undo} (your|my|the|our|those|these|all) (last |latest |previous |recent |)(change|changes|action|actions|"
        "edit|edits|work|modifications|deletion|move|rename|sharing)",
        "(put|set|change|bring|turn|get|restore|return) (it|that|this|things|everything|all|them|the files|it "
        "all)[ back]( to| like|) (as|how|the way|to how|to the way|like|where|to where) (it|they|things|everything|"
        "that) (was|were|had been)[ before]",
        "(put|set|change|turn|switch|bring|move) (it|that|this|things|everything|them|it all) back",
        "(restore|return to|go back to) the (original|previous|former|earlier|old) (state|situation|status|condition)",
        "i want (it|that|this|everything|things)( back|) (the way|as|how|like) (it|they|things|everything) (was|"
        "were)( before|)",
        "(take|roll|back|turn|wind) (it|that|this|everything|them|all|all of it|all of that) (back|out)",
        "(i|we) (didn't|did not) (mean|want) (that|to do that|it)[ <_>]",
        "ctrl ?(\\+|-|) ?z",
    ),
    *row(
        "list_shares",
        "(who|who all|who else|which people|what people) (has|have|got|is having|have got) {access}[ (to|on|for) "
        "<target>]",
        "(who|who all|who else|which people) (can|could|may|is able to|is allowed to) (see|view|look at|look into|"
        "edit|open|read|access|change|modify) <target>",
        "(with )?(who|whom) (is|are|did i share|have i shared|do i share) <target>( been|) ?(shared|open|visible|"
        "accessible)?[ (with|to)]",
        "(who|whom) (did|have) i (share|shared) <target> with",
        "(is|are) <target> (shared|public|visible|private|accessible)[ (with|to) <_>]",
        "(list|show|show me|display|tell me|give me|check|view|see) {the}(shares|sharing|sharing settings|sharing "
        "status|permissions|access|access list|access rights|collaborators|people with access|sharing info|members|"
        "who has access)[ (of|for|on|to|in) <target>]",
        "(what|which) (are )?{the}(shares|permissions|access rights|sharing settings)[ (of|for|on|to) <target>]",
        "(who|which people) (has|have) {access}",
        "(which|what) (colleagues|people|persons|users|coworkers|co-workers|team members|employees|others|"
        "friends)( can| could| may| currently| now| already| still| are able to| are allowed to)* (see|view|look "
        "at|look into|edit|open|read|access|change|modify) <target>",
        "(is|are) (there )?(anyone|anybody|somebody|someone|people|others)( else| besides me| other than me| "
        "except me|)* (able|allowed|who is able|permitted) to (see|view|look at|look into|edit|open|read|access|"
        "change|modify) <target>",
        "(can|could|does|do|may) (anyone|anybody|somebody|someone|other people|others|people)( else| besides me| "
        "other than me|)* (see|view|look at|look into|edit|open|read|access|change|modify|have {access} to) "
        "<target>",
        "(who|which people) (can|could) (see|view|edit|open|access) it",
        "(does|do|can|could) <_:emails> (still |also |already )?(have|see|view|edit|open|access|read)( (any "
        ")?{access} to| {access} on|) <target>",
        "(show|list|tell)( me|) (who|with whom|who all) (has access to|can see|can view|can edit|can access|can "
        "open) <target>",
    ),
    *row(
        "revoke",
        "(unshare|un-share|unsharing) <target> (from|with|for) <emails:emails>",
        "(stop|prevent|keep|block|hinder) <emails:emails> from (seeing|viewing|editing|opening|reading|accessing|"
        "changing|having {access} to) <target>",
        "(stop|quit|end|cease|cancel) (sharing|giving access to) <target> (with|to) <emails:emails>",
        "(revoke|remove|cancel|withdraw|take away|end|drop|delete|terminate|pull|strip|kill|revoking|removing) "
        "(the )?{access}[ of][ (for|of|from)] <emails:emails>[ (to|on|from|for|in) <target>]",
        "(revoke|remove|cancel|withdraw|take away|end|drop|delete|terminate|pull|strip|kill|revoking|removing) "
        "<emails:emails>'?s? (\\w+ )?{access}[ (to|on|from|for|in) <target>]",
        "(undo|revoke|remove|cancel|withdraw|take away|end|delete) (the )?(share|sharing)( of|) <target> (with|for|"
        "from) <emails:emails>",
        "(revoke|remove|cancel|withdraw|end|delete) <emails:emails>'?s? (share|sharing)[ (of|to|on|for) <target>]",
        "(remove|kick|exclude|throw|take|drop|delete|removing|unsubscribe|uninvite|disinvite)( out|) "
        "<emails:emails>( out|) (from|of|off|out of) <target>",
        "<emails:emails> (should|must|shall|may|can|is|does) ?(no longer|not|n't)( any ?more|) ?(be able to|have|"
        "see|view|edit|need|get|allowed to|access|keep)[ {access}][ to][ (see|view|edit|open|read)] ?<target>[ any "
        "?more]",
        "(don't|do not|dont|no longer|never) (let|allow|permit) <emails:emails>( to|) (see|view|edit|open|read|"
        "access|have|change)[ {access} to] <target>[ any ?more]",
        "(don't|do not|no longer) share <target> with <emails:emails>[ any ?more]",
        "(revoke|remove|withdraw|take away|take back|cancel) (what|everything|all|whatever|his|her|their)( "
        "{access}|)( he| she| they|)( has| have|) (on|to|for|in) <target>",
        "(take|remove|kick|drop|cut|throw|get) (him|her|them)( out|) (off|from|of|out of) <target>",
        "(he|she|they) (should|must|may|can|shall) (no longer|not|never) (see|view|edit|open|read|access|have "
        "{access} to) <target>( any ?more|)",
        "(don't|do not|never) let (him|her|them) (see|view|edit|open|read|access) <target>( any ?more|)",
        "(block|lock out|uninvite|disinvite) <emails:emails>[ (from|out of) <target>]",
        "(remove|revoke|delete|cancel|withdraw|take away) (everyone|everybody|anyone|all people|all users|others|"
        "other people|all)('s|'|) {access} (to|on|for|from) <target>",
        "(unshare|stop sharing|un-share|don't share) <target> with (everyone|everybody|anyone|anybody|others|all)",
        "(unshare|stop sharing|un-share|end sharing of|end the sharing of|no longer share|don't share|do not "
        "share) <target>",
        "(make|set|keep) <target>( to|) private[ again]",
        "(remove|revoke|delete|cancel) all {the}(shares|access|sharing|permissions) (of|to|from|on|for) <target>",
    ),
    *row(
        "share",
        "(collaborate|work|work together|cooperate|team up|co-edit|co-write|edit together) with <emails:emails> "
        "(on|in) <target>",
        "(let|allow|enable|permit|authorise|authorize) <emails:emails>( to|) {edit}[ on| in| to] <target>",
        role="editor",
    ),
    *row("share", "(let|allow|enable|permit|authorise|authorize) <emails:emails>( to|) {view} <target>", role="viewer"),
    *row(
        "share",
        "(share|sharing|send|sending|forward|forwarding|email|e-mail|mail) <target> (with|to) <emails:emails>[,]?[ "
        "<role>]",
        "(share|sharing|send|forward) (with|to) <emails:emails>[,]?[ <role>]",
        "(share|send|forward|show|sending|email|mail) <emails:emails> <target>",
        "(give|grant|provide|offer) <emails:emails> (the )?({access}|right|ability) to <role:roleword>( on|) <target>",
        "(give|grant|giving|granting|offer|hand|provide|assign) <emails:emails> (<role> )?{access}[ (to|on|for|in|"
        "over) <target>][ (as|with) <role_after>]",
        "(give|grant|provide) (<role> )?{access} (to|on|for) <target> to <emails:emails>",
        "(give|grant|provide) (<role> )?{access} to <emails:emails>[ (to|on|for|in) <target>]",
        "(give|grant) <emails:emails> the <role> role[ (on|for|to|in|of) <target>]",
        "(invite|add|inviting|adding|bring in|include) <emails:emails> (to|on|into|as|for) (<role:roleword>[ (to|"
        "on|of|for)] )?<target>[,]?[ (as|with) <role_after>]",
        "(make|making|mark) <emails:emails> (a|an|the)? ?<role:roleword>[ (of|on|for|in) <target>]",
        "(make|making) <target> (available|accessible|visible|readable|editable|viewable) (to|for|by) "
        "<emails:emails>[,]?[ <role>]",
        "(open up|open) <target> (to|for) <emails:emails>[,]?[ <role>]",
        "(<emails:emails>) (should|must|needs to|has to|shall|can|may|wants to|want to|would like to|is allowed to|"
        "ought to|also needs to|need to)( be able to| also|) <role:roleword>( on|) <target>",
        "<emails:emails> (needs|wants|should have|should get|gets|must have|requires) (<role> )?{access}[ (to|on|"
        "for|in) <target>]",
        "(make|making) <emails:emails> able to <role:roleword>( on|) <target>",
        "<emails:emails> to be able to <role:roleword>( on|) <target>",
        "<target> (should|must|needs to|has to|can) be (shared|visible|sent|accessible|available) (with|to|for) "
        "<emails:emails>[,]?[ <role>]",
        "<target> (shared|visible|available) (with|to) <emails:emails>[,]?[ <role>]",
        "get <emails:emails> (<role> )?{access} to <target>",
        "(i want|i'd like|i would like|i need|we want) <emails:emails> to (have|get|be given) (<role> )?{access} "
        "(to|on|for|in|over) <target>",
    ),
    *row(
        "role_hint",
        "(let|allow|enable|permit)( him| her| them| bob| ann| both| everyone|)( to|) <role:roleword>[ it| them| "
        "this| that| the file| in it]",
        "(so that |so )?(he|she|they|both)( should| can| may| must|)( also|)( be able to|) <role:roleword>[ it| "
        "them| this| that| the file| things| everything| stuff| there]",
        "(give|grant) (him|her|them) <role> {access}",
        "(as|with) <role>",
        "make (him|her|them) (a|an|the)? ?<role:roleword>",
    ),
    *row(
        "share",
        "(share|sharing|forward) <target> with <person> as <role>",
        "(share|sharing|forward) <target> with <person>",
    ),
    *row(
        "share", "(give|grant) <person> (<role> )?{access} to <target>", "let <person:someone> <role:roleword> <target>"
    ),
    *row(
        "save_summary",
        "(save|store|write|put|keep|file|place|create|add|drop) {the_summary}( you made| you wrote| above|)[ (as|"
        "to|under|called) <name:named>][ (in|into|to|inside|under) <destination>]",
        "(save|store|write|put|keep) (this|that|it|your answer|the answer|the above|the result) (as|to a file "
        "called|into a file called|in a file called|under the name|to a new file|into a new file|in a file named|"
        "as a file called) <name:named>[ (in|into|to|inside|under) <destination>]",
        "(save|store|keep) (it|that|this|your answer|the answer|the result) (in|into|inside|under|to) <destination>",
        "(make|create) (a|the) (file|document|note) (from|of|with|out of) {the_summary}[ (in|into|inside) "
        "<destination>]",
    ),
    *row(
        "replace",
        "(replace|substitute|swap|exchange|switch|replacing|swapping|swap out|change|changing|switch out|sub)[ "
        "out] <find> (with|by|for|against|through) <replace>",
        "(find|search for|look for|locate) <find>,? and (replace|swap|substitute|change|exchange) (it|them|that|"
        "all|every one|each)( with| by| to| for| into|) <replace>",
        "use <replace> instead of <find>",
        "(write|put|say|it should say|it should read|it should be|should be|should say|should read|make it|make "
        "that|have it say|let it say|set it to|type) <replace> (instead of|rather than|in place of|not) <find>",
        "<_> (should be|should say|should read|must be|has to be|needs to be|is|ought to be|should have been) "
        "<replace>,? (instead of|not|rather than) <find>",
        "(wherever|everywhere|each time|every time|whenever) (it says|there is|there's|you see|you find|it reads|"
        "it has|the text says) <find>,? (put|write|use|make it|change it to|replace it with|say|it should say|it "
        "should be|insert) <replace>",
        "instead of <find>,? (write|put|use|say|it should say|it should be|make it|have|type|insert|it should "
        "read) <replace>",
        "s/<find>/<replace>/[g]",
        "<find:quote> (should|must|needs to|has to|ought to) (be|say|read|become) <replace>",
    ),
    *row(
        "replace",
        "(remove|delete|drop|strike|cut|erase|take out|strip|strike out|cross out|get rid of|removing|deleting) "
        "{the}((word|words|phrase|text|sentence|line|passage|string|term|expression|paragraph|bit|part|name|"
        "number)s? )(saying |that says |reading |with )?<find>[ (from|in|of|out of) <target>][ everywhere]",
        "(remove|delete|drop|strike|cut|erase|take out|strip) (all|every|each|any) {the}(occurrences?|instances?|"
        "mentions?|appearances?) of <find>",
        "(remove|delete|drop|strike|cut|erase|take out|strip|take) <find:quote> (from|in|out of) (the text|<target>)",
        replace="",
    ),
    *row(
        "insert",
        "{insert} {a}(new )?(sentence|line|paragraph|text|note|remark|bullet|item|entry|section|comment|heading) "
        "{end}:? <content>",
        "{insert} <content> {end}",
        "{insert} {end}(,|:) <content>",
        "{end},? {insert}:? <content>",
        "{end},? {insert} <content>",
        "(append|appending|tack on) <content>[ (to|onto|in) <target>]",
        position="end",
    ),
    *row(
        "insert",
        "{insert} <content> {start}",
        "{insert} {start}(,|:) <content>",
        "{start},? {insert}:? <content>",
        "(prepend|prepending) <content>[ (to|in) <target>]",
        position="start",
    ),
    *row(
        "insert",
        "{insert} (after|below|under) {the}[(heading|section|line|sentence|title|paragraph) ]<anchor>(,|:) <content>",
        "{insert} <content> (after|below|under|beneath|underneath|following|right after|behind) {the}[(heading|"
        "section|line|sentence|title|paragraph|words?|headline) ]<anchor>",
        "(after|below|under) {the}[(heading|section|line|sentence|title|paragraph) ]<anchor>,? {insert} <content>",
        position="after",
    ),
    *row(
        "insert",
        "{insert} {the}((new )?(sentence|line|paragraph|text|words?|note|remark|bullet|item|entry|section|comment|"
        "heading)s?( saying| that says| reading| with the text|:|) )<content> (to|in|into|on) <target>",
        "{insert} <content:quote> (to|in|into) <target>",
        position="end",
    ),
)
