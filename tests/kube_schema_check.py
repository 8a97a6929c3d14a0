#!/usr/bin/env python3
"""Compares src/kube/schema with what others know of the same messages.

Debian's python3-kubernetes has the names, types and required fields of its version; a kubectl binary
has the protobuf descriptors of its own. What neither is installed is skipped (exit code 77 for both).
"""

import glob
import os
import pathlib
import re
import shutil
import sys
import zlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODELS = pathlib.Path("/usr/lib/python3/dist-packages/kubernetes/client/models")
# The newest: older ones lack fields, and have some that are gone.
KUBECTL = (sorted(glob.glob("/usr/lib/google-cloud-sdk/bin/kubectl.1.*")) or [shutil.which("kubectl") or ""])[-1]
GONE = {"k8s.io.apimachinery.pkg.apis.meta.v1.ObjectMeta.clusterName"}  # in the models, not since 1.24

SCALARS = {1: "double", 3: "int64", 5: "int32", 8: "bool", 9: "string", 12: "bytes"}
SINGLE = {
    "k8s.io.apimachinery.pkg.api.resource.Quantity": "quantity",
    "k8s.io.apimachinery.pkg.apis.meta.v1.Time": "time",
    "k8s.io.apimachinery.pkg.apis.meta.v1.MicroTime": "microtime",
    "k8s.io.apimachinery.pkg.apis.meta.v1.Duration": "duration",
    "k8s.io.apimachinery.pkg.util.intstr.IntOrString": "int-or-string",
    "k8s.io.apimachinery.pkg.apis.meta.v1.FieldsV1": "any",
    "k8s.io.api.authentication.v1.ExtraValue": "strings",
    "k8s.io.api.authorization.v1.ExtraValue": "strings",
}
# JSON names that Go doesn't write as protobuf does.
RENAMED = {"aPIGroup": "apiGroup", "uID": "uid"}


def our_messages():
    """{"k8s.io.api.core.v1.Pod": {"spec": (2, "PodSpec", {"!"})}}"""
    messages = {}
    for path in sorted((ROOT / "src/kube/schema").glob("*.schema")):
        for line in path.read_text().splitlines():
            words = line.split(" : ")[0].split()
            if not words or words[0] == "#":
                continue
            if line.startswith("group "):
                prefix = words[2].removeprefix("io.")
                prefix = prefix if prefix.startswith("k8s.io.") else "k8s.io." + prefix.removeprefix("k8s.")
            elif not line.startswith(" "):
                fields = messages.setdefault(f"{prefix}.{words[1]}", {})
            else:
                name = words[0].rstrip("!?")
                fields[name] = (int(words[1]), words[2], set(words[0][len(name):]) | set(words[3:]))
    return messages


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def wire(data):
    """(number, value) of each field of a protobuf message."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        else:
            size, at = varint(data, at)
            value, at = data[at : at + size], at + size
        yield tag >> 3, value


def first(data, number, default=b""):
    return next((value for tag, value in wire(data) if tag == number), default)


def descriptors(kubectl):
    """{"k8s.io.api.core.v1.Pod": {"spec": (2, type, repeated, "k8s.io.api.core.v1.PodSpec", entry)}}"""
    binary = pathlib.Path(kubectl).read_bytes()
    messages = {}
    at = binary.find(b"\x1f\x8b\x08")
    while at >= 0:
        try:
            data = zlib.decompressobj(31).decompress(binary[at : at + 1_000_000])
        except zlib.error:
            data = b""
        if data[:1] == b"\n" and b"k8s.io/" in data[:16] and b".proto" in data[:120]:
            package = first(data, 2).decode()
            for tag, message in wire(data):
                if tag == 4:
                    add_message(messages, package, message)
        at = binary.find(b"\x1f\x8b\x08", at + 1)
    return messages


def add_message(messages, package, message):
    entries = {first(inner, 1).decode(): inner for tag, inner in wire(message) if tag == 3}
    fields = {}
    for tag, field in wire(message):
        if tag != 2:
            continue
        target = first(field, 6).decode().lstrip(".")
        entry = entries.get(target.rsplit(".", 1)[-1])
        name = first(field, 1).decode()
        fields[RENAMED.get(name, name)] = (first(field, 3, 0), first(field, 5, 0), first(field, 4, 0) == 3, target, entry)
    messages[f"{package}.{first(message, 1).decode()}"] = fields


def type_text(kind, target, entry, repeated):
    """As our files write it, without the place of a message."""
    if entry is not None:
        value = next(field for tag, field in wire(entry) if tag == 2 and first(field, 3, 0) == 2)
        return "{" + type_text(first(value, 5, 0), first(value, 6).decode().lstrip("."), None, False) + "}"
    text = SCALARS.get(kind) or SINGLE.get(target) or target.rsplit(".", 1)[-1]
    return f"[{text}]" if repeated else text


def check_kubectl(kubectl, ours):
    """What this kubectl knows and we don't, or have otherwise."""
    wrong = []
    theirs = descriptors(kubectl)
    for message, fields in ours.items():
        for name, (number, kind, repeated, target, entry) in theirs.get(message, {}).items():
            wanted = type_text(kind, target, entry, repeated)
            number_here, type_here, _ = fields.get(name, (0, "nothing", set()))
            if (number_here, re.sub(r"\w+/", "", type_here)) != (number, wanted):
                wrong.append(f"{message}.{name}: {number_here} {type_here}, but {number} {wanted} in {kubectl}")
    return wrong, len(set(ours) & set(theirs))


def snake(name):
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def members(ours, message):
    """All that the JSON object may hold: fields of inlined messages too."""
    found = {}
    for name, (number, kind, words) in ours[message].items():
        if "inline" in words:
            found.update(members(ours, f"{message.rsplit('.', 1)[0]}.{kind}"))
        else:
            found[name] = (kind, words)
    return found


def check_models(ours):
    wrong, seen = [], 0
    for message in ours:
        group, version, name = message.rsplit(".", 3)[1:]
        files = [MODELS / f"{start}{version}_{snake(name)}.py" for start in ("", f"{group}_")]
        model = next((path for path in reversed(files) if path.exists()), None)
        if model is None:
            continue
        seen += 1
        text = model.read_text()
        start = text.index("attribute_map")
        names = dict(re.findall(r"'(\w+)': '([\w$]+)'", text[start : text.index("def __init__", start)]))
        required = {names[word] for word in re.findall(r"client_side_validation and (\w+) is None", text)}
        here = members(ours, message)
        for json_name in set(names.values()) - {"apiVersion", "kind"} | (required & set(here)):
            if f"{message}.{json_name}" in GONE:
                continue
            if json_name not in here:
                wrong.append(f"{message}.{json_name} is missing, but {model.name} has it")
            elif json_name in required and "!" not in here[json_name][1]:
                wrong.append(f"{message}.{json_name} is required in {model.name}")
    return wrong, seen


def main():
    ours = our_messages()
    wrong, checks = [], 0
    if os.path.exists(KUBECTL):
        found, seen = check_kubectl(KUBECTL, ours)
        print(f"{KUBECTL}: {seen} messages compared, {len(found)} differ")
        wrong += found
        checks += 1
    if MODELS.exists():
        found, seen = check_models(ours)
        print(f"{MODELS}: {seen} messages compared, {len(found)} differ")
        wrong += found
        checks += 1
    print("\n".join(wrong))
    return 1 if wrong else 0 if checks else 77


sys.exit(main())
