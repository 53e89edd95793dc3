"""The functions: what they run on, what they are told, and the clock that starts the sweep."""

from aws_cdk.assertions import Template

from tests.infra.conftest import Synthesise
from tests.infra.reading import files_of, function_of, of_type, only, wake_ups_of
from tests.support import gateway

NAMES = ("status", "tasks", "host", "turns", "sweep", "publish")
NUMBERS = {
    "TURNKEEPER_LEASE_SECONDS": "60",
    "TURNKEEPER_HEARTBEAT_SECONDS": "20",
    "TURNKEEPER_WAKE_GRACE_SECONDS": "60",
    "TURNKEEPER_WAKE_GRACE_MAX_SECONDS": "900",
    "TURNKEEPER_IDEMPOTENCY_SECONDS": "86400",
    "TURNKEEPER_RETENTION_SECONDS": "7776000",
    "TURNKEEPER_METRICS_NAMESPACE": "Turnkeeper/prod",
    "POWERTOOLS_LOG_LEVEL": "INFO",
}


def test_every_function_runs_python_3_13_on_arm_with_both_layers_and_is_traced(template: Template) -> None:
    layers = set(of_type(template, "Lambda::LayerVersion"))

    assert len(layers) == 2
    assert len(of_type(template, "Lambda::Function")) == len(NAMES)
    for name in NAMES:
        _, function = function_of(template, name)
        assert function["Runtime"] == "python3.13", name
        assert function["Architectures"] == ["arm64"], name
        assert function["Handler"] == "handler.handle", name
        assert {layer["Ref"] for layer in function["Layers"]} == layers, name
        assert function["TracingConfig"] == {"Mode": "Active"}, name


def test_functions_and_layers_follow_the_architecture_of_the_deployment(synthesise: Synthesise) -> None:
    template, on_arm = synthesise(arch="x86_64"), of_type(synthesise(), "Lambda::LayerVersion")

    for name in NAMES:
        assert function_of(template, name)[1]["Architectures"] == ["x86_64"]
    for name, layer in of_type(template, "Lambda::LayerVersion").items():
        assert layer["CompatibleArchitectures"] == ["x86_64"], name
        # Not the asset that an earlier synth built for the other processor.
        assert ("Deps" in name) == (layer["Content"] != on_arm[name]["Content"]), name


def test_a_function_has_the_memory_and_time_of_its_work(template: Template) -> None:
    given = {name: function_of(template, name)[1] for name in NAMES}

    assert {name: (function["MemorySize"], function["Timeout"]) for name, function in given.items()} == {
        "status": (512, 29),
        "tasks": (1024, 29),
        "host": (1024, 29),
        "turns": (1024, 900),
        "sweep": (512, 50),
        "publish": (512, 30),
    }


def test_a_function_is_told_all_it_needs_and_nothing_it_does_not(template: Template) -> None:
    (table,) = of_type(template, "DynamoDB::Table")
    queue = wake_ups_of(template, "Queues")
    everybody = NUMBERS | {"TURNKEEPER_TABLE": {"Ref": table}}
    wakes = {
        "TURNKEEPER_QUEUE_URL": {"Ref": queue},
        "TURNKEEPER_HOST_QUEUES": "{}",
        "TURNKEEPER_HOST_FUNCTIONS": "[]",
        "TURNKEEPER_REPORTERS": "{}",
        "TURNKEEPER_BEDROCK_AGENTS": "{}",
    }
    people = {"TURNKEEPER_HUMAN_CLAIM": "username"}
    urgency = {"TURNKEEPER_SEVERITIES": "{}"}
    bucket, _ = files_of(template)
    files = {
        "TURNKEEPER_BUCKET": {"Ref": bucket},
        "TURNKEEPER_LARGEST_FILE_BYTES": "104857600",
        "TURNKEEPER_FILE_URL_SECONDS": "900",
    }
    (bus,) = of_type(template, "Events::EventBus")
    (untold,) = [name for name in of_type(template, "SQS::Queue") if name.startswith("PushUntold")]
    push = {"TURNKEEPER_BUS": {"Ref": bus}, "TURNKEEPER_UNTOLD_URL": {"Ref": untold}}
    ours = {"TURNKEEPER_DEPLOYMENT_HOSTS": "[]", "TURNKEEPER_AUDITORS": "[]"}

    told = {name: function_of(template, name)[1]["Environment"]["Variables"] for name in NAMES}

    assert told == {
        "status": everybody | people,
        "tasks": everybody | people | wakes | files | urgency | {"TURNKEEPER_DEVELOPER_CLAIM": ""},
        "host": everybody | wakes | files | urgency | ours,
        "turns": everybody | wakes,
        "sweep": everybody | wakes | files,
        "publish": everybody | push,
    }


def test_the_tests_in_one_process_tell_the_functions_what_the_stack_does(template: Template) -> None:
    told = {
        name: value
        for function in ("tasks", "host")
        for name, value in function_of(template, function)[1]["Environment"]["Variables"].items()
    }
    by_the_stack = {name: value for name, value in told.items() if name.startswith("TURNKEEPER_")}

    assert {name: by_the_stack[name] for name in gateway.ENVIRONMENT} == gateway.ENVIRONMENT
    places = {"TURNKEEPER_TABLE", "TURNKEEPER_QUEUE_URL", "TURNKEEPER_BUCKET"}
    assert set(by_the_stack) - set(gateway.ENVIRONMENT) == places


def test_the_numbers_are_the_deployments(synthesise: Synthesise) -> None:
    short = {
        "lease_seconds": 6,
        "heartbeat_seconds": 2,
        "wake_grace_seconds": 5,
        "wake_grace_max_seconds": 10,
        "idempotency_seconds": 30,
        "retention_seconds": 60,
    }
    shorter = {"turn_timeout_seconds": 60, "file_url_seconds": 60}

    template = synthesise(**short, **shorter)

    for name in NAMES:
        variables = function_of(template, name)[1]["Environment"]["Variables"]
        told = {setting: variables[f"TURNKEEPER_{setting.upper()}"] for setting in short}
        assert told == {setting: str(number) for setting, number in short.items()}, name


def test_every_log_is_kept_as_long_as_the_deployment_says(synthesise: Synthesise) -> None:
    template = synthesise(log_retention_days=7)
    logs = of_type(template, "Logs::LogGroup")

    assert len(logs) == len(NAMES) + 1
    assert {log["RetentionInDays"] for log in logs.values()} == {7}
    for name in NAMES:
        assert function_of(template, name)[1]["LoggingConfig"]["LogGroup"]["Ref"] in logs


def test_the_sweep_runs_each_minute_and_ends_before_the_next_without_being_tried_again(
    template: Template,
) -> None:
    sweep, function = function_of(template, "sweep")
    rule, asked = only(template, "Events::Rule"), only(template, "Lambda::EventInvokeConfig")

    assert (rule["ScheduleExpression"], rule["State"]) == ("rate(1 minute)", "ENABLED")
    assert [target["Arn"] for target in rule["Targets"]] == [{"Fn::GetAtt": [sweep, "Arn"]}]
    assert rule["Targets"][0]["RetryPolicy"] == {"MaximumRetryAttempts": 0}
    # EventBridge hands over at once; it is Lambda's own queue that would try a failed sweep again.
    assert (asked["FunctionName"], asked["MaximumRetryAttempts"]) == ({"Ref": sweep}, 0)
    assert asked["MaximumEventAgeInSeconds"] == 60
    assert function["Timeout"] < 60


def test_the_sweep_can_be_switched_off(synthesise: Synthesise) -> None:
    assert only(synthesise(sweep_enabled=False), "Events::Rule")["State"] == "DISABLED"
