"""LangGraph's API at the root, over our own runs, approvals and events: for its SDKs, agent-chat-ui and `useStream`.

May import `http` and all below it. It has no machinery of its own beside the rows of client runs.
"""
