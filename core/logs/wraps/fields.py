"""Names of the fields that loggers and shippers write, by what they mean; the first one that is there counts."""

from enum import IntEnum, auto


class Meaning(IntEnum):
    """What a field is for; a number, because a name is hashed in Python, for each field of each line."""

    MESSAGE = auto()
    LEVEL = auto()
    TIME = auto()
    LOGGER = auto()
    RANK = auto()
    LOCAL_RANK = auto()
    NODE = auto()
    UNIT = auto()
    TRACEBACK = auto()
    NOTHING = auto()  # makes lines of one message differ, and says nothing of what happened


# fmt: off
_NAMES: dict[Meaning, tuple[str, ...]] = {
    Meaning.MESSAGE: (
        "event",  # structlog
        "message",  # python-json-logger, loguru, Elastic, Vector, Google
        "msg",  # Bunyan, pino, zap, slog, logrus
        "log",  # Fluent Bit
        "MESSAGE", "short_message", "textPayload", "body", "text", "@message",  # journald, GELF, Google, OTLP, Insights
    ),
    Meaning.LEVEL: (
        "level", "levelname", "severity", "log.level", "log_level", "loglevel", "level_name", "lvl", "level.name",
        "log.severity",
        "niveau", "stufe", "nivel", "livello", "уровень", "级别", "レベル", "레벨",  # in the languages of LEVELS
    ),
    Meaning.TIME: (
        "timestamp", "@timestamp", "time", "ts", "asctime", "datetime", "date", "created", "t", "@t", "timeUnixNano",
        "lastTimestamp", "eventTime",  # of events of Kubernetes
    ),
    Meaning.LOGGER: ("logger", "logger_name", "log.logger", "name", "logger.name"),
    Meaning.RANK: ("rank", "RANK", "global_rank", "GLOBAL_RANK", "world_rank", "process_rank", "labels.rank"),
    Meaning.LOCAL_RANK: ("local_rank", "LOCAL_RANK", "labels.local_rank"),
    Meaning.NODE: (
        "kubernetes.pod_name", "kubernetes.pod.name", "pod", "pod_name", "podName", "k8s.pod.name",
        "resource.labels.pod_name",
        "host", "hostname", "host.name", "host.hostname", "HOSTNAME", "node", "node_name", "nodename", "nodeName",
        "kubernetes.host", "kubernetes.node.name", "kubernetes.node_name", "k8s.node.name", "instance",
    ),
    Meaning.UNIT: (
        "kubernetes.container_name", "kubernetes.container.name", "container_name", "containerName",
        "k8s.container.name",
        "resource.labels.container_name",
    ),
    Meaning.TRACEBACK: (
        "exception", "exc_info", "exc_text", "traceback", "stack_trace", "stacktrace", "stack", "stack_info",
        "exc_traceback",
        "error.stack_trace", "error.stack", "err.stack", "exception.stacktrace", "exception.traceback", "error_stack",
    ),
    Meaning.NOTHING: (
        "namespace", "namespace_name",
        "job", "job_id", "job_name", "jobid", "run_id", "pid", "process", "process.pid", "process.id",
        "processName", "thread",
        "tid", "thread.id", "thread_id", "thread_name", "threadName", "process.thread.id", "process.thread.name",
        "taskName",
        "v", "@version", "ecs.version", "stream", "_p", "flags", "insertId", "receiveTimestamp", "logName",
        "relativeCreated",
        "msecs", "source_type", "file", "process.executable", "process.name",
    ),
}
# What shippers say of where a line was, field by field below these.
WHERE = (
    "kubernetes.", "agent.", "ecs.", "input.", "cloud.", "container.", "orchestrator.", "data_stream.", "log.file.",
    "log.offset", "host.", "k8s.", "resource.", "labels.", "file.", "docker.",
)
LEVELS = {
    "warn": "WARNING", "err": "ERROR", "crit": "CRITICAL", "emerg": "CRITICAL", "alert": "CRITICAL",
    "panic": "CRITICAL",
    "dbg": "DEBUG", "exception": "ERROR", "notice": "INFO", "information": "INFO", "dpanic": "CRITICAL",
    "t": "TRACE", "d": "DEBUG", "i": "INFO", "w": "WARNING", "e": "ERROR", "f": "CRITICAL", "c": "CRITICAL",
    # Of French, German, Spanish, Portuguese and Italian, Russian, Chinese, Japanese and Korean
    "erreur": "ERROR", "fehler": "ERROR", "erro": "ERROR", "errore": "ERROR", "ошибка": "ERROR",
    # Of Polish, Czech and Dutch
    "błąd": "ERROR", "chyba": "ERROR", "fout": "ERROR",
    "uwaga": "WARNING", "ostrzeżenie": "WARNING", "varování": "WARNING", "waarschuwing": "WARNING",
    "normal": "INFO",  # of events of Kubernetes, beside "Warning"
    "错误": "ERROR", "エラー": "ERROR", "오류": "ERROR",
    "avert": "WARNING", "avertissement": "WARNING", "warnung": "WARNING", "aviso": "WARNING", "advertencia": "WARNING",
    "avviso": "WARNING", "предупреждение": "WARNING", "警告": "WARNING", "경고": "WARNING",
    "信息": "INFO", "情報": "INFO", "정보": "INFO",
}
LEVEL_NUMBERS = {  # Bunyan's and pino's
    "10": "TRACE", "20": "DEBUG", "30": "INFO", "40": "WARNING", "50": "ERROR", "60": "CRITICAL",
}
# fmt: on
MEANINGS = {name: (meaning, order) for meaning, names in _NAMES.items() for order, name in enumerate(names)}
