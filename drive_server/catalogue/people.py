"""Sentences about people: accounts, groups, sessions, and the ways to log in."""

from typing import Final

TRY_AGAIN: Final = ("Try again in {count} second{s}.", "请在 {count} 秒后重试。")

PEOPLE: Final[dict[str, tuple[str, str]]] = {
    "account_disabled": ("This account is disabled.", "此账户已停用。"),
    "account_disabled.hint": ("Ask an administrator of this drive to enable it.", "请让此云盘的管理员启用它。"),
    "administrators_only": ("Only an administrator can do this.", "只有管理员才能这样做。"),
    "administrators_only.hint": ("Ask an administrator of this drive.", "请联系此云盘的管理员。"),
    "no_user": ("There is no such user.", "没有这个用户。"),
    "no_user.hint": ("Name a person by their email.", "请用邮箱地址指明用户。"),
    "last_administrator": (
        "This is the last administrator who can sign in.",
        "这是最后一位能登录的管理员。",
    ),
    "last_administrator.hint": ("Make another person an administrator first.", "请先让其他人成为管理员。"),
    "has_administrator": ("This drive has an administrator already.", "此云盘已有管理员。"),
    "has_administrator.hint": (
        "With a key of theirs, `drive-agent user add` and `drive-agent user promote` make another one.",
        "用其密钥，`drive-agent user add` 与 `drive-agent user promote` 可以再添加一位。",
    ),
    "local_owner_stays": (
        "The owner of this drive, who has the local access token, can't be removed.",
        "不能移除此云盘的所有者，即持有本地访问令牌的人。",
    ),
    "local_owner_stays.hint": ("Disable the account instead.", "可以改为停用该账户。"),
    "removal_choice": ("Say what becomes of the person's files.", "请说明如何处理此人的文件。"),
    "removal_choice.hint": (
        "Give `hand_over_to` with another person's email, or `delete_files=true`, and not both.",
        "请用 `hand_over_to` 给出另一人的邮箱，或用 `delete_files=true`，二者只选其一。",
    ),
    "no_heir": ("The files can't go to this person.", "不能把文件交给此人。"),
    "no_heir.hint": ("Name another person, whose account is in use.", "请指明另一位账户可用的人。"),
    "heir_has_no_room": (
        "That person has no room for the files ({size} bytes); nothing was changed.",
        "此人的空间放不下这些文件（{size} 字节）；没有做任何更改。",
    ),
    "heir_has_no_room.hint": ("Give that person a larger quota first.", "请先提高此人的空间配额。"),
    "wrong_password": ("Email or password is wrong.", "邮箱或密码不正确。"),
    "wrong_password.hint": (
        "Try again, or ask for an address to set a new password.",
        "请重试，或申请用于设置新密码的地址。",
    ),
    "calls_per_minute": (
        "This key may make {limit} calls in a minute, and has made them.",
        "此密钥每分钟最多可调用 {limit} 次，现已用完。",
    ),
    "calls_per_minute.hint": TRY_AGAIN,
    "calls_at_once": (
        "{limit} calls of this session are going on, and it may have no more at once.",
        "此会话有 {limit} 个调用正在进行，不能同时进行更多。",
    ),
    "calls_at_once.hint": ("Wait for one of them, or cancel one.", "请等待其中一个完成，或取消一个。"),
    "too_many_wrong_keys.hint": TRY_AGAIN,
    "too_many_wrong_passwords.hint": TRY_AGAIN,
    "too_many_forgotten.hint": TRY_AGAIN,
    "too_many_link_guesses.hint": TRY_AGAIN,
    "too_many_wrong_keys": ("Too many wrong keys came from your address.", "来自您的地址的错误密钥过多。"),
    "too_many_wrong_passwords": (
        "Too many wrong passwords came from your address.",
        "来自您的地址的错误密码过多。",
    ),
    "too_many_forgotten": (
        "Too many mails for forgotten passwords were asked for from your address.",
        "来自您的地址的重置密码请求过多。",
    ),
    "too_many_link_guesses": (
        "Too many wrong passwords were tried on this link.",
        "此链接的错误密码尝试过多。",
    ),
    "account_under_attack": (
        "Too many wrong passwords came for this account.",
        "此账户的错误密码过多。",
    ),
    "account_under_attack.hint": (
        "Log in with a passkey, a key, or a browser in which you did before; or try again in a minute.",
        "请用通行密钥、密钥或曾经登录过的浏览器登录，或一分钟后重试。",
    ),
    "fresh_proof_needed": (
        "Confirm that it is you: you logged in too long ago for this.",
        "请确认是您本人：距您上次登录已太久，不能进行此操作。",
    ),
    "fresh_proof_needed.hint": (
        "Log in again, by POST /api/auth/proof or anew, and repeat the request.",
        "请通过 POST /api/auth/proof 或重新登录确认身份，然后重试此请求。",
    ),
    "weaker_proof": (
        "This browser was logged in by something stronger.",
        "此浏览器是用更强的方式登录的。",
    ),
    "weaker_proof.hint": ("Use what you logged in with.", "请使用您登录时的方式。"),
    "other_person": ("That belongs to another person.", "该凭据属于其他人。"),
    "other_person.hint": ("Log out first to act as somebody else.", "如需切换身份，请先退出登录。"),
    "no_session_here": ("Only a browser that is logged in can confirm this.", "只有已登录的浏览器才能确认。"),
    "no_session_here.hint": ("A key needs no confirmation.", "使用密钥时无需确认。"),
    "key_ends": ("A key that ends can't set a first password.", "会过期的密钥不能设置首个密码。"),
    "key_ends.hint": (
        "Use a key that does not end, or let an administrator make an address for it.",
        "请使用不会过期的密钥，或请管理员生成用于设置密码的地址。",
    ),
    "passkey_key_ends": ("A key that ends can't register a passkey.", "会过期的密钥不能注册通行密钥。"),
    "passkey_key_ends.hint": ("Use a key that does not end, or log in.", "请使用不会过期的密钥，或先登录。"),
    "bad_passkey": ("That passkey can't be registered.", "无法注册此通行密钥。"),
    "bad_passkey.hint": ("Begin again, and answer within five minutes.", "请重新开始，并在五分钟内完成。"),
    "passkey_exists": ("This passkey is registered already.", "此通行密钥已注册。"),
    "passkey_exists.hint": ("Log in with it.", "请直接用它登录。"),
    "too_many_passkeys": ("You have {limit} passkeys already.", "您已有 {limit} 个通行密钥。"),
    "too_many_passkeys.hint": ("Remove one that you don't use.", "请删除一个不用的通行密钥。"),
    "no_passkey": ("There is no such passkey.", "没有这个通行密钥。"),
    "no_passkey.hint": ("List your passkeys and use an id from there.", "请列出您的通行密钥，并使用其中的 id。"),
    "passkeys_need_name": (
        "Passkeys need an address with a name; browsers refuse them at a number.",
        "通行密钥需要带域名的地址；浏览器不接受数字地址。",
    ),
    "passkeys_need_name.hint": ("Open the service by its name, or as localhost.", "请用域名或 localhost 打开服务。"),
    "no_reset": (
        "This address to set a password was used, has expired, or never was.",
        "用于设置密码的地址已被使用、已过期或不存在。",
    ),
    "no_reset.hint": ("Ask for a new one.", "请重新申请。"),
    "bad_password": ("That can't be used as a password.", "不能用作密码。"),
    "bad_password.hint": (
        "Use {least} to {most} characters; a few words are easier to remember than signs.",
        "请使用 {least} 到 {most} 个字符；几个词比符号更好记。",
    ),
    "login_failed": ("Logging in did not succeed.", "登录没有成功。"),
    "login_failed.hint": ("Begin again.", "请重新开始。"),
    "no_issuer": ("The service to log in at does not answer.", "登录服务没有响应。"),
    "no_issuer.hint": ("Try again in a minute, or log in another way.", "请稍后重试，或以其他方式登录。"),
    "no_account_for_login": ("There is no account here that this login may use.", "这里没有可用此登录方式的账户。"),
    "no_account_for_login.hint": ("Ask an administrator of this drive.", "请联系此云盘的管理员。"),
    "email_not_verified": (
        "The service to log in at does not vouch for an email address.",
        "登录服务没有确认邮箱地址。",
    ),
    "email_not_verified.hint": ("Verify your address there, then begin again.", "请先在那里验证邮箱，再重新开始。"),
    "token_for_mcp": ("This token is for MCP alone.", "此令牌只能用于 MCP。"),
    "token_for_mcp.hint": ("Use it at /mcp, or an API key here.", "请在 /mcp 使用它，或在此使用 API 密钥。"),
    "too_many_registrations": (
        "Too many programs have registered here today.",
        "今天在此注册的程序过多。",
    ),
    "too_many_registrations.hint": TRY_AGAIN,
    "too_many_documents": (
        "Too many programs were looked up within a minute.",
        "一分钟内查询的程序过多。",
    ),
    "too_many_documents.hint": TRY_AGAIN,
    "no_sign_in_of_programs": (
        "Programs can't sign in by OAuth here.",
        "程序不能在此通过 OAuth 登录。",
    ),
    "no_sign_in_of_programs.hint": (
        "Use an API key; OAuth needs an https address, or this machine's own.",
        "请使用 API 密钥；OAuth 需要 https 地址或本机地址。",
    ),
    "unknown_program": ("This drive does not know that program.", "此云盘不认识该程序。"),
    "unknown_program.hint": (
        "Sign in anew in the program: it may have been forgotten because nobody used it.",
        "请在程序中重新登录：它可能因无人使用而被移除。",
    ),
    "bad_redirect": (
        "The program names no address that an answer may go to.",
        "该程序没有给出可以接收答复的地址。",
    ),
    "bad_redirect.hint": (
        "It has to be one that the program registered: by https, on this computer, or of a scheme of its own.",
        "地址必须是程序注册过的：https 地址、本机地址或程序自己的协议。",
    ),
    "bad_client_auth": (
        "The program wants to prove itself in a way that is not taken here.",
        "该程序想用此处不支持的方式证明身份。",
    ),
    "bad_client_auth.hint": (
        "Use none, client_secret_post or client_secret_basic; of an address, none.",
        "请使用 none、client_secret_post 或 client_secret_basic；以地址为标识的程序只能用 none。",
    ),
    "bad_client_document": (
        "The address that the program names does not describe it.",
        "该程序给出的地址没有对它的说明。",
    ),
    "bad_client_document.hint": (
        "It has to answer JSON with the same address as `client_id`.",
        "该地址须返回 JSON，且其中 `client_id` 与地址相同。",
    ),
    "no_client_document": (
        "The description of the program can't be had from its address.",
        "无法从该程序的地址取得其说明。",
    ),
    "no_client_document.hint": ("Try again in a minute.", "请稍后重试。"),
    "no_group": ("There is no such group.", "没有这个群组。"),
    "no_group.hint": ("List the groups, and name one as `group:NAME`.", "请列出群组，并以 `group:名称` 指明。"),
    "shared_twice": ("The item has this role or link already.", "该项已有此角色或链接。"),
    "shared_twice.hint": ("Name each one once.", "每个只需列出一次。"),
    "group_name_taken": ("There is a group of that name already.", "已有同名的群组。"),
    "group_name_taken.hint": ("Use another name.", "请换一个名称。"),
    "bad_group_name": ("That name can't be used for a group.", "此名称不能用作群组名称。"),
    "bad_group_name.hint": (
        "Use 1 to {limit} printable characters without slashes and @.",
        "请使用 1 到 {limit} 个可显示的字符，不含斜杠和 @。",
    ),
    "group_gone": ("The group was deleted since.", "该群组之后已被删除。"),
    "no_session": ("There is no such session.", "没有这个会话。"),
    "no_session.hint": ("List your sessions and use an id from there.", "请列出您的会话，并使用其中的 id。"),
    "bad_person_name": ("That name can't be used.", "此姓名无效。"),
    "bad_person_name.hint": (
        "Use up to {limit} printable characters.",
        "请使用最多 {limit} 个可显示的字符。",
    ),
    "bad_time_zone": ("There is no such time zone.", "没有这个时区。"),
    "bad_time_zone.hint": ("Write it as Asia/Shanghai or Europe/Berlin.", "请写成 Asia/Shanghai 或 Europe/Berlin。"),
    "bad_language": ("There is no such language here.", "不支持该语言。"),
    "bad_language.hint": ("Use en or zh, or nothing.", "请使用 en 或 zh，或留空。"),
}
