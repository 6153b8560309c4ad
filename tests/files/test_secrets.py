"""What counts as a secret, by its name and within a text; no other module has such a list."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import humor_tasks
from humor_tasks.benchmarks import BENCHMARKS
from humor_tasks.contract.options import parameters_of
from humor_tasks.files.secrets import HIDDEN, is_secret, without_credentials, without_secrets

NAMES = """
api_key apikey api-key API_KEY apiKey myAPIKey key keys x-api-key openaiApiKey subscription-key private_key_pem
hf_token HF_TOKEN hfToken token authToken access_token session_token sas_token sasToken azure_ad_token token_secret
aws_secret_access_key aws_access_key_id secret client_secret password passwd userpassword passphrase pwd db_pwd pw pass
db_pass credential credentials creds Authorization authentication auth oauth oauth2 proxy_auth bearer bearer_token
cookie cookies pat github_pat jwt sig sas session_id sessionid dsn connection_string extra_headers headers
""".split()
NO_SECRETS = """
tokenizer tokenizer_backend custom_tokenizer tokenized_requests tiktoken max_tokens tokens input_tokens max_gen_toks
max_tokens_per_image token_limit token_type add_bos_token think_end_token eos_token pad_token_id monkey keyboard turkey
keyword keywords num_key_value_heads author authors pattern path patch_size pass_rate pass_at_k bypass compass passages
signature sign sigma secretary dataset code skip KeyError AuthenticationError TokenException
""".split()


@pytest.mark.parametrize("name", NAMES)
def test_names_of_secrets(name: str) -> None:
    assert is_secret(name)


@pytest.mark.parametrize(
    "name", dict.fromkeys([*NO_SECRETS, *(n for b in BENCHMARKS.values() for n in parameters_of(b.options))])
)
def test_names_of_others(name: str) -> None:
    assert not is_secret(name)


TEXTS = {
    "http://user:pw@host/v1": "http://host/v1",
    "http://me:p@ss@host/": "http://host/",
    "http://me:pa/ss@host/x": "http://host/x",
    "postgres://u:p@h/db": "postgres://h/db",
    "http://host:8000/@me/x": "http://host:8000/@me/x",
    "https://h/x?sv=2020&sig=abc%2Fdef&se=1": "https://h/x?sv=2020&sig=SECRET&se=1",
    "https://h/?key=AIza123&alt=json&max_tokens=3": "https://h/?key=SECRET&alt=json&max_tokens=3",
    "https://h/y?X-Amz-Signature=aa&X-Amz-Credential=bb": "https://h/y?X-Amz-Signature=SECRET&X-Amz-Credential=SECRET",
    "https://h/#access_token=abc": "https://h/#access_token=SECRET",
    "base_url=http://h/v1,api_key=sk-1,tokenizer=gpt2": "base_url=http://h/v1,api_key=SECRET,tokenizer=gpt2",
    "pretrained=a/b,add_bos_token=True,hf_token=x": "pretrained=a/b,add_bos_token=True,hf_token=SECRET",
    '{"Authorization": "Bearer abc.def", "n": 2}': '{"Authorization": "SECRET", "n": 2}',
    "{'api_key': 'x \\' y', 'n': 2}": "{'api_key': 'SECRET', 'n': 2}",
    r"{\"password\": \"hunter2\", \"a\": 1}": r"{\"password\": \"SECRET\", \"a\": 1}",
    "headers={'X-Team': 'laughs'},b=2": "headers=SECRET,b=2",
    'body={"a": {"token": "x"}}': 'body={"a": {"token": "SECRET"}}',
    'a="api_key=x, b=3"': 'a="api_key=SECRET, b=3"',
    "Authorization: Basic dXNlcjpwdw==": "Authorization: SECRET",
    "curl -H 'x: Bearer abcdefgh'": "curl -H 'x: Bearer SECRET'",
    "{api_key: abc, b: 2}": "{api_key: SECRET, b: 2}",
    "api_key: abc\nb: 2": "api_key: SECRET\nb: 2",
    "cookie=a=b; c=d": "cookie=SECRET",
    "AccountName=a;AccountKey=ab==": "AccountName=a;AccountKey=SECRET",
    "client=sk-abcdefghijklmnopqrstuv": "client=SECRET",
    "hf_abcdefghijklmnopqrst": "SECRET",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0.abc-def": "SECRET",
    "--api-key x1y2z3x1y2z3x1y2z3 -n 2": "--api-key SECRET -n 2",
    "api_key = 'x1y2z3x1y2z3x1y2z3'": "api_key = 'SECRET'",
    "Incorrect API key provided: x1y2z3x1y2z3x1y2z3. See": "Incorrect API key provided: SECRET See",
    'curl -H "x-api-key: abc" -d 2': 'curl -H "x-api-key: SECRET" -d 2',
    "gsk_abcdefghijklmnopqrst1 xai-abcdefghijklmnopqrst1": "SECRET SECRET",
    "An API key of characterisations; the password of a lighthouse": (
        "An API key of characterisations; the password of a lighthouse"
    ),
    "The key: be brief. Bearer of bad news.": "The key: be brief. Bearer of bad news.",
    "me@example.org, git@example.org:a/b": "me@example.org, git@example.org:a/b",
    "temperature=0.5,do_sample=true": "temperature=0.5,do_sample=true",
    "KeyError: 'context'": "KeyError: 'context'",
    "AuthenticationError: api_key=abc": "AuthenticationError: api_key=SECRET",
}


@pytest.mark.parametrize("text", TEXTS)
def test_secrets_within_a_text(text: str) -> None:
    assert without_credentials(text) == TEXTS[text]
    assert without_credentials(TEXTS[text]) == TEXTS[text]


def test_nested_values() -> None:
    given = {
        "a": [{"pat": "x", "n": 1}],
        "headers": {"X-Team": "t", "Cookie": "c"},
        "url": "http://a:b@h/",
        "key": None,
    }
    hidden = {"a": [{"pat": HIDDEN, "n": 1}], "headers": HIDDEN, "url": "http://h/", "key": None}
    assert without_secrets(given) == hidden
    left = {"a": [{"n": 1}], "headers": {"X-Team": "t"}, "url": "http://h/"}
    assert without_secrets(given, drop=True, headers=False) == left


# ---- one list ------------------------------------------------------------------------------------

STRONG = re.compile(r"api_?key|\bsecrets?\b|passw|passphrase|credential|bearer|authorization|\w_token\b", re.I)
WEAK = re.compile(r"\b(?:key|token|secret|auth|password|pwd|cookie)\b", re.I)
ALLOWED = {
    ("rows/hub.py", "HF_TOKEN"): "the remedy names the hub's variable",
    ("models/image_text.py", "image_token"): "a special token of models",
    ("models/image_text.py", "video_token"): "a special token of models",
    ("on_lm_eval/generation.py", "think_end_token"): "a special token, which lm-eval's models have an argument for",
    ("on_inspect/judging/refusals.py", "NAME"): "the words by which providers name a parameter; NAME is filled in",
    ("on_inspect/private.py", "MODEL_INFO_LOOKUP_API_KEY"): "the name of a constant of Inspect",
}
"""Module and a text in it that may have a name of a secret, and why."""


def lists_of_secrets(source: str) -> Iterator[str]:
    """String literals, and collections of them, that may choose names of secrets; docstrings are none."""
    tree = ast.parse(source)
    documented = [node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)]
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in documented:
            if STRONG.search(node.value) or ("|" in node.value and WEAK.search(node.value)):
                yield node.value
        elif isinstance(node, ast.Tuple | ast.List | ast.Set | ast.Dict):
            held = node.keys if isinstance(node, ast.Dict) else node.elts
            words = [each.value for each in held if isinstance(each, ast.Constant) and isinstance(each.value, str)]
            if len({word.lower() for word in words if WEAK.fullmatch(word)}) > 1:
                yield ", ".join(words)


def test_no_other_module_has_a_list_of_secrets() -> None:
    (root,) = humor_tasks.__path__[:1]
    found = {
        (path.relative_to(root).as_posix(), text)
        for path in Path(root).rglob("*.py")
        for text in lists_of_secrets(path.read_text(encoding="utf-8"))
        if path.relative_to(root).as_posix() != "files/secrets.py"
    }
    others = [(module, text) for module, text in found if not any(m == module and t in text for m, t in ALLOWED)]
    assert not others
    assert all(any(m == module and t in text for module, text in found) for m, t in ALLOWED)


@pytest.mark.parametrize(
    "source", ['re.compile("key|token")', '{"token", "auth"}', 'x == "api_key"', '"passphrase"[0]']
)
def test_such_lists_are_found(source: str) -> None:
    assert [*lists_of_secrets(source)]
