# SPDX-License-Identifier: MIT
#
# The few commands one types. CMake does the work: see CMakePresets.json.
JOBS ?= $(shell nproc)
CTEST := ctest --test-dir build/release --output-on-failure -j $(JOBS)
ALLOCMUX := build/release/tools/allocmux

.PHONY: all build packages demo check check-all bench soak format clean

all: build

build:
	cmake --preset release
	cmake --build build/release -j $(JOBS)

# Everything that the next three targets need from Debian.
packages:
	tools/packages tests/packages.txt

# One real program under every backend of this machine.
demo: packages
	$(MAKE) build
	python3 tools/demo.py $(ALLOCMUX)

# All tests but the slow ones; some ten minutes on two cores.
check: packages
	$(MAKE) build
	$(CTEST) -LE slow

# The slow ones too: external libraries' hazards, servers, sanitizers.
check-all: packages
	tools/packages tests/realapps/packages.txt
	$(MAKE) build
	$(CTEST)
	cmake --preset asan
	cmake --build build/asan -j $(JOBS)
	ctest --test-dir build/asan --output-on-failure -j $(JOBS)
	cmake --preset tsan
	cmake --build build/tsan -j $(JOBS)
	ctest --test-dir build/tsan --output-on-failure -j $(JOBS)

bench: packages
	$(MAKE) build
	cmake --build build/release --target bench

# Stress of the core under the sanitizers, half the time each.
SOAK_SECONDS ?= 3600
STRESS := tests/ownership/ownership_stress_core
soak: packages
	for preset in asan tsan; do \
		cmake --preset $$preset && \
		cmake --build build/$$preset -j $(JOBS) \
			--target ownership_stress_core || exit 1; \
		end=$$(($$(date +%s) + $(SOAK_SECONDS) / 2)); \
		while [ $$(date +%s) -lt $$end ]; do \
			build/$$preset/$(STRESS) 1000000 \
				system dl percpu dl-checked || exit 1; \
		done; \
	done

format:
	git ls-files '*.c' '*.h' '*.cc' | xargs clang-format -i

clean:
	rm -rf build
