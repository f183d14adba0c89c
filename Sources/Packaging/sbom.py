"""sbom.py PROGRAM BUILD MAP [LIBRARIES]: prints what is in a program as a bill of materials: SPDX 2.3, JSON.

PROGRAM is what is shipped, BUILD the folder in which SwiftPM built it, MAP the linker's list of what went into it, and
LIBRARIES the folder that libraries.sh made. Nothing is taken from a list of what should be in it: whatever the linker took
from outside BUILD is named, and an input that has no known origin is an error. The time is that of SOURCE_DATE_EPOCH.
"""

import datetime
import hashlib
import json
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

# By the name of Debian's source package, or "swift". Those of GCC and glibc are libraries that a program may contain.
LICENCES = {
    "curl": "curl",
    "expat": "MIT",
    "gcc": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "glibc": "LGPL-2.1-or-later",
    "openssl": "Apache-2.0",
    "swift": "Apache-2.0 WITH Swift-exception",
}
# The archives that libraries.sh makes, and of which sources.
MADE = {"libcrypto.a": "openssl", "libcurl.a": "curl", "libexpat.a": "expat", "libssl.a": "openssl"}
UNKNOWN = "NOASSERTION"


def licence(source):
    if source not in LICENCES:
        sys.exit(f"sbom: the licence of {source} is not known")
    return LICENCES[source]


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def digest(path, algorithm="sha256"):
    return hashlib.new(algorithm, path.read_bytes(), usedforsecurity=False).hexdigest()


def identifier(name):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.]", "-", name)


def linked(link_map, build):
    """The archives and object files that the linker took from outside the build folder, in an order that does not depend
    on where that folder is.

    A line of lld's or gold's map names an input as /path/archive.a(member.o) or /path/object.o.
    """
    named = re.findall(r"(?m)(?:^|\s)(/.*?\.(?:a(?=\()|o(?=:\(|\s|$)))", link_map.read_text(errors="replace"))
    files = {Path(name).resolve() for name in set(named)}
    return sorted((file for file in files if build not in file.parents), key=lambda file: (file.name, file))


def package(name, version, declared, **rest):
    return {
        "SPDXID": identifier("Package-" + name),
        "name": name,
        **({"versionInfo": version} if version else {}),
        "downloadLocation": UNKNOWN,
        "filesAnalyzed": False,
        "licenseConcluded": UNKNOWN,
        "licenseDeclared": declared,
        "copyrightText": UNKNOWN,
        **rest,
    }


def purl(distribution, name, version, rest=""):
    locator = f"pkg:deb/{distribution}/{name}@{version.replace('+', '%2B')}{rest}"
    return [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": locator}]


def from_sources(name, dsc):
    """A package that libraries.sh built of Debian's sources; the .dsc has the checksums of all of them."""
    text = dsc.read_text()
    version = re.search(r"(?m)^Version: (\S+)$", text)[1]
    files = re.findall(r"(?m)^ ([0-9a-f]{64}) \d+ (\S+)$", text)
    own = {"comment": "Changed by Sources/Packaging/lend.sh of s3up before it was built."} if name == "curl" else {}
    return package(
        name,
        version,
        licence(name),
        packageFileName=f"{name}_{version.rpartition(':')[2]}.dsc",
        checksums=[{"algorithm": "SHA256", "checksumValue": digest(dsc)}],
        sourceInfo="Built of Debian's source package: " + ", ".join(f"{file} (SHA-256 {sum})" for sum, file in files),
        externalRefs=purl("debian", name, version, "?arch=source"),
        **own,
    )


def from_distribution(path):
    """The package of the machine that a file came with, whose sources were not downloaded."""
    search = subprocess.run(["dpkg-query", "-S", path], stdout=subprocess.PIPE, text=True)
    if search.returncode:
        sys.exit(f"sbom: it is not known where {path} came from")
    query = "${Package} ${Version} ${source:Package} ${source:Version}"
    owner = search.stdout.partition(": ")[0]
    name, version, source, source_version = output("dpkg-query", "-W", "-f", query, owner).split()
    info = f"Part of the distribution's binary package; its source package is {source} {source_version}."
    refs = purl(platform.freedesktop_os_release()["ID"], name, version)
    return package(name, version, licence(re.sub(r"^gcc-\d+$", "gcc", source)), sourceInfo=info, externalRefs=refs)


def from_swift(build):
    newest = max(build.glob("swift-version-*.txt"), key=lambda file: file.stat().st_mtime)
    version, tag = re.search(r"Swift version (\S+) \((\S+)\)", newest.read_text()).groups()
    return package("swift", version, licence("swift"), sourceInfo=f"Part of the toolchain {tag}.")


def origin(path, build, libraries):
    if libraries and libraries in path.parents:
        name = MADE.get(path.name) or sys.exit(f"sbom: it is not known what {path.name} was made of")
        return from_sources(name, libraries / "sources" / f"{name}.dsc")
    if re.search(r"/lib/(swift|swift_static|clang)/", str(path)):
        return from_swift(build)
    return from_distribution(path)


def document(program, build, link_map, libraries):
    version = output(program, "--version").split()[1]
    checksum = digest(program)
    own = package(
        "s3up",
        version,
        UNKNOWN,
        packageFileName=program.name,
        primaryPackagePurpose="APPLICATION",
        checksums=[{"algorithm": "SHA256", "checksumValue": checksum}],
    )
    packages, files, relations = {own["SPDXID"]: own}, [], []

    def relate(one, how, other):
        relations.append({"spdxElementId": one, "relationshipType": how, "relatedSpdxElement": other})

    relate("SPDXRef-DOCUMENT", "DESCRIBES", own["SPDXID"])
    for path in linked(link_map, build):
        whence = origin(path, build, libraries)
        packages[whence["SPDXID"]] = whence
        file = {
            "SPDXID": identifier("File-" + path.name),
            "fileName": "./" + path.name,
            "fileTypes": ["ARCHIVE" if path.suffix == ".a" else "BINARY"],
            "checksums": [{"algorithm": name.upper(), "checksumValue": digest(path, name)} for name in ("sha1", "sha256")],
            "licenseConcluded": UNKNOWN,
            "licenseInfoInFiles": [UNKNOWN],
            "copyrightText": UNKNOWN,
        }
        files.append(file)
        relate(own["SPDXID"], "STATIC_LINK", file["SPDXID"])
        relate(file["SPDXID"], "GENERATED_FROM", whence["SPDXID"])
    if len({file["SPDXID"] for file in files}) < len(files):
        sys.exit("sbom: two files have the same name")
    for name in re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "-d", program)):
        shared = package(name, None, UNKNOWN, comment="A shared library of the system that runs the program.")
        packages[shared["SPDXID"]] = shared
        relate(own["SPDXID"], "DYNAMIC_LINK", shared["SPDXID"])
    created = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"s3up-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/s3up-{version}-{checksum}",
        "creationInfo": {"created": created.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: s3up-sbom"]},
        "packages": list(packages.values()),
        "files": files,
        "relationships": relations,
    }


if __name__ == "__main__":
    arguments = [Path(argument).resolve() for argument in sys.argv[1:]]
    if len(arguments) not in (3, 4):
        sys.exit("usage: sbom.py PROGRAM BUILD MAP [LIBRARIES]")
    json.dump(document(*arguments[:3], arguments[3] if len(arguments) == 4 else None), sys.stdout, indent=2)
    print()
