/* SPDX-License-Identifier: MIT */
/* fuzz_owner.c - any sequence of registrations against the model. */
#include <stdint.h>
#include <stdlib.h>

#include "owner_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (owner_model_run(data, size)) {
		abort();
	}
	return 0;
}
