#!/usr/bin/env bash
# The tests with every Python that is supported and found here: python3.12 and so on, those of uv, those of pyenv.
# tests/pythons.sh [WORDS OF PYTEST...]; FIRSTFAULT_PYTHONS names versions or paths. Nothing is downloaded but packages.
# What was tested is told with its numbers, and with the words where these left tests out. Exit codes: 0 what is here
# passes, 1 something failed, 3 nothing could be tested: no such Python, or no test that ran.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
uv=.venv/bin/uv
tested=() missing=() failed=()
NOTHING_TESTED=3 # no code of pytest's for tests that fail

interpreter() { # of a version; whatever answers first with that version
  local python
  for python in "/usr/bin/python$1" "/usr/bin/python${1%.*}" "$(command -v "python$1")" \
    "$HOME"/.pyenv/versions/"$1"*/bin/python "$($uv python find --no-python-downloads "$1" 2>/dev/null)"; do
    if [[ -x $python && $("$python" -c 'import platform; print(platform.python_version())' 2>/dev/null). == "$1".* ]]; then
      echo "$python"
      return
    fi
  done
}

installed() { # whether a virtual environment of this interpreter has the packages of the lock file, and this program
  $uv venv --quiet --clear --python "$1" "$2" \
    && $uv pip install --quiet --python "$2/bin/python" --require-hashes -r requirements-dev.lock \
    && $uv pip install --quiet --python "$2/bin/python" --no-deps --no-build-isolation -e .
}

for version in ${FIRSTFAULT_PYTHONS:-3.11.2 3.12 3.13 3.14}; do
  if [[ $version == /* ]]; then python=$version; else python=$(interpreter "$version"); fi
  if [[ ! -x $python ]]; then
    missing+=("$version")
    continue
  fi
  venv=.venv-pythons/${version//\//-}
  exact=$("$python" -c 'import platform; print(platform.python_version())')
  echo "== $exact, $python"
  if ! installed "$python" "$venv"; then
    failed+=("$exact (packages could not be installed)")
    continue
  fi
  "$venv/bin/python" -m pytest --numprocesses=auto --dist=worksteal -p no:cacheprovider "$@" | tee "$venv/said"
  code=${PIPESTATUS[0]}
  told=$(grep -oE '[0-9]+ (failed|passed|skipped|errors?)' "$venv/said" | tail -4 | paste -sd, - | sed 's/,/, /g')
  if [[ $code != 0 && $code != 5 ]]; then # 5: no test was chosen
    failed+=("$exact (${told:-no test ran})")
  elif [[ $told == *passed* ]]; then
    tested+=("$exact ($told${*:+, only: $*})")
  else
    missing+=("$exact (${told:-no test ran})")
  fi
done

list() { # with semicolons; none of nothing
  local IFS=';'
  local all=$*
  echo "${all:-none}" | sed 's/;/; /g'
}

echo "tested: $(list "${tested[@]}")"
echo "failed: $(list "${failed[@]}")"
echo "not tested here: $(list "${missing[@]}")"
if ((${#failed[@]})); then exit 1; fi
((${#tested[@]})) || exit $NOTHING_TESTED
