"""The sentences of keys, accounts and groups."""

from typing import Final

PEOPLE: Final[dict[str, tuple[str, str]]] = {
    "key_made": (
        "The key {name} ({scopes}). Keep it: it is not shown again.",
        "密钥 {name}（{scopes}）。请妥善保存：之后不再显示。",
    ),
    "key_first": (
        "The first key of {email}, with all scopes. Keep it: it is not shown again.",
        "{email} 的首个密钥，具有全部权限。请妥善保存：之后不再显示。",
    ),
    "key_revoked": ("Revoked {name} ({id}).", "已撤销 {name}（{id}）。"),
    "key_ended": ("revoked {date}", "已撤销：{date}"),
    "key_until": ("until {date}", "有效期至 {date}"),
    "key_endless": ("never expires", "永不到期"),
    "no_key": ("There is no such key.", "没有这个密钥。"),
    "no_key.hint": ("`drive-agent key list` shows the ids.", "可用 `drive-agent key list` 查看 id。"),
    "several_keys": ("Several keys have that name.", "有多个密钥使用此名称。"),
    "several_keys.hint": ("`drive-agent key list` shows the ids.", "可用 `drive-agent key list` 查看 id。"),
    "user": ("{id}  since {date}  {role}  {email}", "{id}  {date} 起  {role}  {email}"),
    "user_disable": (
        "{user} is disabled: nobody acts as this person any more.",
        "{user} 已停用：不再有人能以此身份操作。",
    ),
    "user_enable": ("{user} is enabled.", "{user} 已启用。"),
    "user_promote": ("{user} is an administrator.", "{user} 是管理员。"),
    "user_demote": ("{user} is no administrator.", "{user} 不是管理员。"),
    "user_password": (
        "{user} sets a new password there: once, until {time}.",
        "{user} 可在那里设置一次新密码，截止 {time}。",
    ),
    "ask_hand_over": (
        "Remove {user}? The files go to {heir}. [y/N] ",
        "要移除 {user} 吗？其文件将移交给 {heir}。[y/N] ",
    ),
    "ask_remove": (
        "Remove {user}? The files are deleted for good. [y/N] ",
        "要移除 {user} 吗？其文件将永久删除。[y/N] ",
    ),
    "handed_over": ("Removed {user}; the files go to {heir}.", "已移除 {user}；其文件移交给 {heir}。"),
    "removed": (
        "Removed {user}; the files are deleted for good.",
        "已移除 {user}；其文件将永久删除。",
    ),
    "not_removed": ("Nothing was removed.", "没有移除任何人。"),
    "not_removed.hint": ("Answer y, or add --yes.", "请回答 y，或加上 --yes。"),
    "group_made": (
        "Name it so where a person's email would stand, to share with all of its members.",
        "在填写他人电子邮件的地方填写它，即可与其全部成员共享。",
    ),
}
