"""The sentences about the certificate and the key of a server that serves HTTPS by itself."""

from typing import Final

CERTIFICATES: Final[dict[str, tuple[str, str]]] = {
    "tls_half": (
        "HTTPS needs a certificate and its key, and only one of both is named.",
        "HTTPS 需要证书及其密钥，但只指定了其中之一。",
    ),
    "tls_half.hint": (
        "Name both: --tls-cert and --tls-key, or DRIVE_TLS_CERT and DRIVE_TLS_KEY.",
        "请同时指定两者：--tls-cert 和 --tls-key，或 DRIVE_TLS_CERT 和 DRIVE_TLS_KEY。",
    ),
    "tls_unreadable": ("{path} can't be read: {reason}.", "无法读取 {path}：{reason}。"),
    "tls_unreadable.hint": (
        "Check the path, and that the user who runs the service may read the file.",
        "请检查路径，以及运行服务的用户能否读取该文件。",
    ),
    "tls_no_certificate": ("There is no certificate in {path}.", "{path} 中没有证书。"),
    "tls_no_certificate.hint": (
        "It has to be in PEM (BEGIN CERTIFICATE): first the server's own, then those between it and the root.",
        "须为 PEM 格式（BEGIN CERTIFICATE）：先是服务器自己的证书，再是它与根证书之间的证书。",
    ),
    "tls_no_key": ("There is no private key in {path}.", "{path} 中没有私钥。"),
    "tls_no_key.hint": ("It has to be in PEM (BEGIN PRIVATE KEY).", "须为 PEM 格式（BEGIN PRIVATE KEY）。"),
    "tls_key_locked": ("The private key in {path} has a password.", "{path} 中的私钥有密码。"),
    "tls_key_locked.hint": (
        "Write it without: openssl pkey -in {path} -out KEY, readable by the service alone.",
        "请另存为无密码的密钥：openssl pkey -in {path} -out KEY，并仅允许服务读取。",
    ),
    "tls_mismatch": (
        "The key in {key} does not belong to the certificate in {certificate}.",
        "{key} 中的密钥不属于 {certificate} 中的证书。",
    ),
    "tls_mismatch.hint": (
        "Name the two that were made together; the server's own certificate comes first in its file.",
        "请指定一同生成的两个文件；服务器自己的证书须在文件的最前面。",
    ),
    "tls_refused": ("{path} can't be used: {reason}.", "无法使用 {path}：{reason}。"),
    "tls_refused.hint": (
        "Have a certificate made with RSA of 2048 bits or more, or with an elliptic curve.",
        "请使用 2048 位以上的 RSA 或椭圆曲线重新签发证书。",
    ),
}
