"""The sentences about the results of the assistant's runs: undo and redo, audit, plan, grants and memory."""

from typing import Final

RUNS: Final[dict[str, tuple[str, str]]] = {
    "since_what": ("--since goes with --thread.", "--since 需与 --thread 一起使用。"),
    "undo_nothing": ("Nothing of this can be taken back.", "其中没有可以撤销的更改。"),
    "undo_preview": ("This would be taken back:", "将会撤销："),
    "undo_ask": ("Take it back? y(es), n(o) ", "要撤销吗？y(是)，n(否) "),
    "undo_done": ("Taken back:", "已撤销："),
    "undo_hint": ("{command}   to do it again", "{command}   可重做"),
    "redo_nothing": ("Nothing of this can be done again.", "其中没有可以重做的更改。"),
    "redo_preview": ("This would be done again:", "将会重做："),
    "redo_ask": ("Do it again? y(es), n(o) ", "要重做吗？y(是)，n(否) "),
    "redo_done": ("Done again:", "已重做："),
    "redo_hint": ("{command}   to take it back", "{command}   可撤销"),
    "left_as_is": ("left as it is: ", "保持不变："),
    "nothing_changed": ("Nothing was changed.", "没有更改任何内容。"),
    "no_answer": (
        "Nothing was changed: standard input ended without an answer.",
        "没有更改任何内容：标准输入结束时没有回答。",
    ),
    "no_answer.hint": ("Use --yes.", "请使用 --yes。"),
    # The audit of a run
    "audit_run": (
        "Run {run} ({mode}): {status}, by {who} at {time}",
        "运行 {run}（{mode}）：{status}，{who} 于 {time} 启动",
    ),
    "audit_covered": ("  not asked: covered by {what}", "  未询问：{what} 已允许"),
    "audit_other": ("Other changes", "其他更改"),
    "audit_asked": ("approval {approval}: {status}", "批准 {approval}：{status}"),
    "audit_decided": (
        "approval {approval}: {decision} by {who} at {time}",
        "批准 {approval}：{decision}，{who} 于 {time}",
    ),
    "audit_change": ("change {id}: {summary}{allowed}{undone}", "更改 {id}：{summary}{allowed}{undone}"),
    "audit_allowed": (", approved by {who}", "，由 {who} 批准"),
    "audit_undone": (", taken back by change {id}", "，已由更改 {id} 撤销"),
    "audit_version": ("version {before} -> {after} of {file}", "{file} 的版本 {before} -> {after}"),
    "audit_first": ("none", "无"),
    # Plans
    "plan_pause": ("It pauses after the running step.", "当前步骤之后暂停。"),
    "plan_resume": ("It goes on.", "继续执行。"),
    "plan_stop": ("It ends after that step.", "该步骤之后结束。"),
    "plan_version": ("{status}, version {version}", "{status}，版本 {version}"),
    "plan_beside": ("  (beside others)", "  （与其他步骤同时）"),
    "no_step": ("There is no step {number}.", "没有第 {number} 步。"),
    "no_step.hint": ("`drive-agent plan show` numbers them.", "可用 `drive-agent plan show` 查看编号。"),
    "step_unchanged": ("Nothing is to be changed.", "没有要修改的内容。"),
    "step_unchanged.hint": (
        "Use --title, --instruction or --remove.",
        "请使用 --title、--instruction 或 --remove。",
    ),
    "step_begun": (
        "Step {number} has begun; it can't be changed any more.",
        "第 {number} 步已开始，不能再修改。",
    ),
    "steps_no_json": ("Standard input is not JSON.", "标准输入不是 JSON。"),
    "steps_no_json.hint": ("Send a list of steps.", "请传入步骤列表。"),
    "steps_no_list": ("Standard input is no list of steps.", "标准输入不是步骤列表。"),
    "steps_no_list.hint": ("Send a list of steps.", "请传入步骤列表。"),
    # Grants and memory
    "grants_none": (
        "There are no grants: you are asked each time. One is given when you approve something.",
        "没有授权：每次都会询问您。可在批准操作时授权。",
    ),
    "grant": (
        "{id}  {kinds} inside {folders}  {used} of {most} items used, until {time}",
        "{id}  {kinds}，范围：{folders}  已用 {used} 项，共 {most} 项，有效期至 {time}",
    ),
    "grant_withdrawn": ("Withdrawn: {id}. You are asked again.", "已撤回：{id}。今后会重新询问您。"),
    "memories_none": (
        "Nothing is remembered. Say “remember that ...” to the assistant.",
        "没有记住任何内容。对助手说“记住……”即可。",
    ),
    "memory_origin": ("  (from {name})", "  （来自 {name}）"),
    "forgotten": ("Forgotten: {id}.", "已忘记：{id}。"),
}
