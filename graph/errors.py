"""The errors that the assistant raises on purpose, each with a code, and a sentence in English and Chinese."""

from copy import copy
from typing import ClassVar, Self

from graph.language import Language


class AgentError(Exception):
    """Base of all errors that end a run and may be shown as they are. `detail` is for the log only."""

    code: ClassVar[str] = "internal"
    retryable: ClassVar[bool] = False
    english: ClassVar[str] = "Something went wrong in the assistant. Nothing more was done."
    chinese: ClassVar[str] = "助手内部出错，已停止，没有再做任何操作。"

    def __init__(self, detail: str = "") -> None:
        super().__init__(detail or self.english)
        self.detail = detail
        self.language: Language = "en"

    @property
    def sentence(self) -> str:
        """Return the sentence for the person, in the language of the turn it happened in."""
        return self.chinese if self.language == "zh" else self.english

    def in_language(self, language: Language) -> Self:
        """Return the error for a turn in that language: the same one may have been raised in several turns."""
        mine = copy(self)
        mine.language = language
        return mine


def explain(error: Exception) -> tuple[str, str, bool]:
    """Return any error as (code, sentence, whether trying again may help). A foreign one tells nothing."""
    if isinstance(error, AgentError):
        return error.code, error.sentence, error.retryable
    return AgentError.code, AgentError.english, AgentError.retryable


class NoMessageError(AgentError):
    """The input holds no message of a person."""

    code = "no_message"
    english = "There is no message to answer. Send one with some text in it."
    chinese = "没有可以回答的消息，请发送一条有文字的消息。"


class CrashedError(AgentError):
    """The service ended too often while it worked on the run."""

    code = "crashed"
    english = "The service stopped too often while it worked on this."
    chinese = "处理这条消息时服务多次意外停止，已不再继续。"


class DriveUnavailableError(AgentError):
    """The drive did not answer, or the connection to it could not be opened."""

    code = "drive_unavailable"
    retryable = True
    english = "The drive can't be reached at the moment. Try again shortly."
    chinese = "暂时无法连接到云盘，请稍后再试。"


class ModelError(AgentError):
    """The language model could not answer. Subclasses say why."""

    code = "model_error"
    retryable = True
    english = "The language model failed. Try again shortly."
    chinese = "语言模型出错，请稍后再试。"


class ModelRateLimitedError(ModelError):
    """The model's service refused for too many requests, and went on refusing after the retries."""

    code = "model_rate_limited"
    english = "The language model's service is over its request limit. Wait a little, then try again."
    chinese = "语言模型服务的请求过多，请稍等片刻再试。"


class ModelQuotaError(ModelError):
    """The account at the model's service has no credit left: waiting does not help."""

    code = "model_quota"
    retryable = False
    english = "The account at the language model's service has no credit left. Top it up, or use another key."
    chinese = "语言模型服务的账户余额已用完，请充值或换用其他密钥。"


class ModelUnavailableError(ModelError):
    """The model's service can't be reached, or fails (5xx), also after the retries."""

    code = "model_unavailable"
    english = "The language model's service can't be reached or is failing. Try again shortly."
    chinese = "语言模型服务无法连接或出现故障，请稍后再试。"


class ModelTimeoutError(ModelError):
    """The model did not answer in time, or stopped in the middle of its answer."""

    code = "model_timeout"
    english = "The language model stopped answering. Try again."
    chinese = "语言模型停止了响应，请重试。"


class ModelAuthenticationError(ModelError):
    """The key for the model is missing, wrong, or may not use this model."""

    code = "model_authentication"
    retryable = False
    english = (
        "The language model's service refused the key. Check its key (such as OPENAI_API_KEY) and its address (such as "
        "OPENAI_BASE_URL)."
    )
    chinese = "语言模型服务拒绝了密钥，请检查密钥（如 OPENAI_API_KEY）和地址（如 OPENAI_BASE_URL）。"


class ModelNotFoundError(ModelError):
    """The service does not know the model."""

    code = "model_not_found"
    retryable = False
    english = "The service does not know this language model. Check AGENT_MODEL."
    chinese = "服务不认识这个语言模型，请检查 AGENT_MODEL。"


class ModelPackageError(ModelError):
    """The package of a model's provider is not installed; the detail is the command that installs it."""

    code = "model_package"
    retryable = False
    english = "The package for this language model is not installed. Install it with: {command}"
    chinese = "尚未安装这个语言模型所需的软件包。请运行：{command}"

    @property
    def sentence(self) -> str:
        """Return the sentence with the command in it."""
        return super().sentence.format(command=self.detail)


class ModelRequestError(ModelError):
    """The service refused the request as such."""

    code = "model_request"
    retryable = False
    english = "The language model's service refused the request. Rephrase it, or start a new thread."
    chinese = "语言模型服务拒绝了这个请求，请换一种说法，或新建一个对话。"


class ModelContextError(ModelRequestError):
    """The conversation with its documents is longer than the model can read."""

    code = "model_context"
    english = (
        "This is longer than the language model can read, even after the conversation was shortened. Ask for a smaller "
        "part, start a new conversation, or use a model that reads more."
    )
    chinese = (
        "即使压缩了对话，内容仍超出语言模型能读取的长度。请缩小请求的范围、新建一个对话，或换用能读取更多内容的模型。"
    )


class ModelOutputError(ModelError):
    """The model's answer does not have the required form."""

    code = "model_output"
    english = "The language model gave an answer that makes no sense here. Try again."
    chinese = "语言模型的回答无法使用，请重试。"


class ModelLengthError(ModelOutputError):
    """The model's answer reached its length limit before it was of any use."""

    code = "model_length"
    retryable = False
    english = "The language model reached its length limit before it had an answer. Ask for less at once."
    chinese = "语言模型在给出回答之前就达到了长度上限，请一次少问一些。"
