# Sourced by the scripts: a temporary folder, pinned packages of PyPI in it, and a comparison.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

python_packages() {
    python3 -m venv environment
    . environment/bin/activate
    pip install --quiet --disable-pip-version-check "$@"
}

expect() { # expect WANTED SEEN
    printf '%s\n' "$2"
    if [ "$1" != "$2" ]; then
        printf 'The behaviour has changed; it was:\n%s\n' "$1" >&2
        exit 1
    fi
}
