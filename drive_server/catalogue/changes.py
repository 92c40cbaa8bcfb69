"""Sentences about changes: effects before, summaries after, and reasons for the parts that an undo leaves."""

from typing import Final

CHANGES: Final[dict[str, tuple[str, str]]] = {
    # Changes
    "effect.create_folder": ("Create the folder {item} in {folder}.", "在{folder}中新建文件夹{item}。"),
    "change.create_folder": ("Created the folder {item} in {folder}.", "在{folder}中新建了文件夹{item}。"),
    "effect.create_file": ("Create the file {item} in {folder}.", "在{folder}中新建文件{item}。"),
    "change.create_file": ("Created the file {item} in {folder}.", "在{folder}中新建了文件{item}。"),
    "effect.fill_template": (
        "Fill in {template}, as the file {item} in {folder}.",
        "填写{template}，存为{folder}中的文件{item}。",
    ),
    "change.fill_template": (
        "Filled in {template}, as the file {item} in {folder}.",
        "填写了{template}，存为{folder}中的文件{item}。",
    ),
    "effect.import_items": (
        "Restore {count} item{s} of an export in {folder}.",
        "把导出文件中的 {count} 项恢复到{folder}。",
    ),
    "change.import_items": (
        "Restored {count} item{s} of an export in {folder}.",
        "把导出文件中的 {count} 项恢复到了{folder}。",
    ),
    "effect.copy": ("Copy {item}{holding} to {folder}{ending}.", "把{item}{holding}复制到{folder}{ending}。"),
    "change.copy": ("Copied {item}{holding} to {folder}{ending}.", "把{item}{holding}复制到了{folder}{ending}。"),
    "effect.rename": ("Rename {item} to '{name}'{ending}.", "把{item}重命名为“{name}”{ending}。"),
    "change.rename": ("Renamed {item} to '{name}'{ending}.", "把{item}重命名为“{name}”{ending}。"),
    "effect.set_date": ("Give {item} the date {date}.", "把{item}的日期改为 {date}。"),
    "change.set_date": ("Gave {item} the date {date}.", "把{item}的日期改成了 {date}。"),
    "effect.move": ("Move {item} to {folder}{ending}.", "把{item}移到{folder}{ending}。"),
    "change.move": ("Moved {item} to {folder}{ending}.", "把{item}移到了{folder}{ending}。"),
    "effect.move_many": ("Move {count} item{s} to {folder}.", "把 {count} 项移到{folder}。"),
    "change.move_many": ("Moved {count} item{s} to {folder}.", "把 {count} 项移到了{folder}。"),
    "effect.rename_many": ("Rename {count} item{s}.", "重命名 {count} 项。"),
    "change.rename_many": ("Renamed {count} item{s}.", "重命名了 {count} 项。"),
    "effect.organize": (
        "Move {count} item{s} into folders in {folder}, of which {made} are new.",
        "把 {count} 项移到{folder}下的文件夹中，其中新建 {made} 个文件夹。",
    ),
    "change.organize": (
        "Moved {count} item{s} into folders in {folder}, of which {made} are new.",
        "把 {count} 项移到了{folder}下的文件夹中，其中新建了 {made} 个文件夹。",
    ),
    "effect.delete_group": ("Delete a group, with all access that it was given.", "删除一个群组及其获得的全部权限。"),
    "change.unasked": (
        "{change} A program did so with the key '{key}', and asked nobody first.",
        "{change}由程序使用密钥“{key}”执行，事先没有询问任何人。",
    ),
    "change.unasked_by_token": (
        "{change} A program did so with a token, and asked nobody first.",
        "{change}由程序使用令牌执行，事先没有询问任何人。",
    ),
    "change.delete_group": (
        "Deleted a group, with all access that it was given.",
        "删除了一个群组及其获得的全部权限。",
    ),
    "effect.remove_person": ("Remove an account with all of its files.", "移除一个账户及其全部文件。"),
    "change.remove_person": ("Removed an account with all of its files.", "移除了一个账户及其全部文件。"),
    "effect.hand_over": ("Remove an account; its files go to {email}.", "移除一个账户，其文件交给 {email}。"),
    "change.hand_over": ("Removed an account; its files went to {email}.", "移除了一个账户，其文件交给了 {email}。"),
    "becomes": ("becomes '{name}'", "改名为“{name}”"),
    "goes_to": ("goes to {path}", "移到 {path}"),
    "is_made": ("is made", "新建"),
    "effect.write": ("Replace the content of {item}.", "替换{item}的全部内容。"),
    "change.write": ("Replaced the content of {item}.", "改写了{item}的内容。"),
    "effect.save": ("Save {item}.", "保存{item}。"),
    "change.save": ("Saved {item}.", "保存了{item}。"),
    "effect.remove_passing": (
        "Remove {item}, which a program made to save a file.",
        "移除{item}，它是程序保存文件时产生的临时文件。",
    ),
    "change.remove_passing": (
        "Removed {item}, which a program had made to save a file.",
        "移除了{item}，它是程序保存文件时产生的临时文件。",
    ),
    "effect.write_from": (
        "Replace the content of {item} by that of {source}, which goes to the trash.",
        "用{source}的内容替换{item}的内容，并把{source}移到回收站。",
    ),
    "change.write_from": (
        "Replaced the content of {item} by that of {source}, which went to the trash.",
        "用{source}的内容改写了{item}，并把{source}移到了回收站。",
    ),
    "effect.patch": ("Edit {count} place{s} in {item}.", "修改{item}中的 {count} 处。"),
    "change.patch": ("Edited {count} place{s} in {item}.", "修改了{item}中的 {count} 处。"),
    "effect.append": ("Append {count:,} character{s} to {item}.", "在{item}末尾添加 {count:,} 个字符。"),
    "change.append": ("Appended {count:,} character{s} to {item}.", "在{item}末尾添加了 {count:,} 个字符。"),
    "effect.restore_version": (
        "Bring back version {number} of {item} as its newest version.",
        "把{item}恢复为第 {number} 个版本。",
    ),
    "change.restore_version": (
        "Brought back version {number} of {item} as its newest version.",
        "把{item}恢复为第 {number} 个版本。",
    ),
    "effect.trash": (
        "Move {item}{holding} to the trash, from where it can be restored.",
        "把{item}{holding}移到回收站，之后可以恢复。",
    ),
    "change.trash": (
        "Moved {item}{holding} to the trash, from where it can be restored.",
        "把{item}{holding}移到了回收站，之后可以恢复。",
    ),
    "effect.restore": (
        "Restore {item} from the trash to {folder}{ending}.",
        "把{item}从回收站恢复到{folder}{ending}。",
    ),
    "change.restore": (
        "Restored {item} from the trash to {folder}{ending}.",
        "把{item}从回收站恢复到了{folder}{ending}。",
    ),
    "effect.delete_for_good": (
        "Delete {item}{holding} for good; this can't be taken back.",
        "永久删除{item}{holding}，无法撤销。",
    ),
    "change.delete_for_good": (
        "Deleted {item}{holding} for good; this can't be taken back.",
        "永久删除了{item}{holding}，无法撤销。",
    ),
    "effect.copy_many": ("Copy {count} item{s} to {folder}.", "把 {count} 项复制到{folder}。"),
    "change.copy_many": ("Copied {count} item{s} to {folder}.", "把 {count} 项复制到了{folder}。"),
    "effect.trash_many": (
        "Move {count} item{s} to the trash, from where they can be restored.",
        "把 {count} 项移到回收站，之后可以恢复。",
    ),
    "change.trash_many": (
        "Moved {count} item{s} to the trash, from where they can be restored.",
        "把 {count} 项移到了回收站，之后可以恢复。",
    ),
    "effect.restore_many": ("Restore {count} item{s} from the trash.", "从回收站恢复 {count} 项。"),
    "change.restore_many": ("Restored {count} item{s} from the trash.", "从回收站恢复了 {count} 项。"),
    "effect.delete_many": (
        "Delete {count} item{s} for good; this can't be taken back.",
        "永久删除 {count} 项，无法撤销。",
    ),
    "change.delete_many": (
        "Deleted {count} item{s} for good; this can't be taken back.",
        "永久删除了 {count} 项，无法撤销。",
    ),
    "effect.empty_trash": (
        "Delete {count} item{s} in the trash for good; this can't be taken back.",
        "永久删除回收站中的 {count} 项，无法撤销。",
    ),
    "change.empty_trash": (
        "Deleted {count} item{s} in the trash for good; this can't be taken back.",
        "永久删除了回收站中的 {count} 项，无法撤销。",
    ),
    "effect.nothing_in_trash": ("Empty the trash, which is empty already.", "清空回收站（已经是空的）。"),
    "change.nothing_in_trash": ("The trash was empty already.", "回收站本来就是空的。"),
    "effect.expire": (
        "Delete {count} item{s} for good, after {days} days in the trash.",
        "永久删除在回收站中超过 {days} 天的 {count} 项。",
    ),
    "change.expire": (
        "Deleted {count} item{s} for good, after {days} days in the trash.",
        "永久删除了在回收站中超过 {days} 天的 {count} 项。",
    ),
    "effect.share": ("Share {item} with {email} as {role}.", "把{item}共享给 {email}，角色：{role}。"),
    "change.share": ("Shared {item} with {email} as {role}.", "把{item}共享给了 {email}，角色：{role}。"),
    "effect.share_waiting": (
        "Share {item} with {email} as {role}. Nobody has an account with this email here, so nobody is told, and the "
        "access waits until somebody has. A link works without an account.",
        "把{item}共享给 {email}，角色：{role}。此邮箱在这里没有账户：不会通知任何人，权限要等有了账户才生效。"
        "改用链接则不需要账户。",
    ),
    "change.share_waiting": (
        "Shared {item} with {email} as {role}, who had no account here.",
        "把{item}共享给了 {email}，角色：{role}；当时此邮箱没有账户。",
    ),
    "shared_already": ("{email} is {role} of {item} already.", "{email} 已经是{item}的{role}。"),
    "effect.update_share": (
        "Change the role of {email} on {item} from {was} to {role}.",
        "把 {email} 对{item}的角色从{was}改为{role}。",
    ),
    "change.update_share": (
        "Changed the role of {email} on {item} from {was} to {role}.",
        "把 {email} 对{item}的角色从{was}改为了{role}。",
    ),
    "effect.revoke": ("Take back the role {role} of {email} on {item}.", "收回 {email} 对{item}的{role}角色。"),
    "change.revoke": ("Took back the role {role} of {email} on {item}.", "收回了 {email} 对{item}的{role}角色。"),
    "effect.leave": (
        "Leave {item}, which is shared with you as {role}; it stays with its owner.",
        "退出共享给你的{item}（角色：{role}）；该项仍归所有者所有。",
    ),
    "change.leave": ("Left {item}, which was shared as {role}.", "退出了共享的{item}（角色：{role}）。"),
    "effect.create_link": (
        "Create a link to {item} for anyone who has it: {terms}.",
        "为{item}创建链接，任何拿到链接的人均可访问：{terms}。",
    ),
    "change.create_link": (
        "Created a link to {item} for anyone who has it: {terms}.",
        "为{item}创建了链接，任何拿到链接的人均可访问：{terms}。",
    ),
    "effect.update_link": ("Change the link to {item}: {terms}.", "更改{item}的链接：{terms}。"),
    "change.update_link": ("Changed the link to {item}: {terms}.", "更改了{item}的链接：{terms}。"),
    "effect.revoke_link": ("Revoke a link to {item}: {terms}.", "撤销{item}的链接：{terms}。"),
    "change.revoke_link": ("Revoked a link to {item}: {terms}.", "撤销了{item}的链接：{terms}。"),
    "effect.download": (
        "Make an address from which anyone with the address can download {item}{version} until {time} UTC.",
        "为{item}{version}创建下载地址，任何拿到地址的人均可下载，有效期至 {time} UTC。",
    ),
    "effect.undo": ("Take back {count} change{s}: {changes}.{left}", "撤销 {count} 项改动：{changes}。{left}"),
    "change.undo": ("Took back {count} change{s}: {changes}.{left}", "撤销了 {count} 项改动：{changes}。{left}"),
    "effect.redo": ("Do again {count} change{s}: {changes}.{left}", "重做 {count} 项改动：{changes}。{left}"),
    "change.redo": ("Did again {count} change{s}: {changes}.{left}", "重做了 {count} 项改动：{changes}。{left}"),
    # Changes by others, without the facts that only their maker and the owner may know
    "seen.created": ("Created {item}.", "新建了{item}。"),
    "seen.renamed": ("Renamed {item}.", "重命名了{item}。"),
    "seen.moved": ("Moved {item}.", "移动了{item}。"),
    "seen.trashed": ("Moved to the trash {item}.", "把{item}移到了回收站。"),
    "seen.restored": ("Restored from the trash {item}.", "从回收站恢复了{item}。"),
    "seen.edited": ("Changed the content of {item}.", "改动了{item}的内容。"),
    "seen.shared": ("Changed who has access to {item}.", "更改了{item}的访问权限。"),
    "seen.copied": ("Made the copy {item}.", "复制出了{item}。"),
    "seen.undone": ("Took back changes of {item}.", "撤销了{item}的改动。"),
    "seen.redone": ("Did changes again of {item}.", "重做了{item}的改动。"),
    "seen.changed": ("Changed {item}.", "改动了{item}。"),
    # Effects of an undo on one item
    "back_in_place": ("goes back to its earlier place and name", "回到原来的位置和名称"),
    "back_to_content": ("goes back to its earlier content", "回到较早的内容"),
    "back_to_date": ("gets back its earlier date", "恢复原来的日期"),
    "goes_to_trash": ("goes to the trash", "移到回收站"),
    "role_given_back": ("gives {email} the earlier role again", "恢复 {email} 原来的权限"),
    "no_longer_shared": ("is no longer shared with {email}", "不再共享给 {email}"),
    "shared_again": ("is shared with {email} again", "重新共享给 {email}"),
    "link_terms_back": ("has the link on its earlier terms again", "链接恢复原来的设置"),
    "link_closed": ("is no longer open by the link", "不再能通过链接访问"),
    "link_open_again": ("is open by the link again", "重新能通过链接访问"),
    # Reasons for which an undo leaves something as it is
    "deleted_for_good": ("it was deleted for good, which can't be taken back", "它已被永久删除，无法撤销"),
    "role_gone": ("your role on it no longer allows this", "你现在的权限不再允许这样做"),
    "changed_by": ("changed since by {email} at {time} UTC", "此后被 {email} 于 {time} UTC 改动过"),
    "changed_inside_by": (
        "something in it was changed since by {email} at {time} UTC",
        "其中的内容此后被 {email} 于 {time} UTC 改动过",
    ),
    "part_left": ("something in it was moved away or deleted since", "其中的内容此后被移走或删除了"),
    "holds_more": ("it holds items that were put there since", "其中有此后放入的内容"),
    "changed_since": ("it was changed since", "此后被改动过"),
    "folder_closed": ("the folder it was in is no longer open to you", "它原来所在的文件夹已不再对你开放"),
    "not_reversible": ("this kind of change can't be taken back", "这类改动无法撤销"),
    "in_trash_already": ("it is in the trash already", "它已经在回收站里"),
    "content_pruned": (
        "its earlier content is no longer kept: the file had more versions since than are kept",
        "它较早的内容已不再保留：此后的版本数超过了保留的数量",
    ),
    "link_needs_password": (
        "the link had a password, which no export has; make it again",
        "该链接设有密码，而导出文件不含密码；请重新创建",
    ),
    "link_expired": ("the link has expired since", "该链接此后已过期"),
}
