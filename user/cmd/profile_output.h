/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* How a profile is shown, by offwake as it was made or by report out of a recording. */
#ifndef NETSTALL_CMD_PROFILE_OUTPUT_H
#define NETSTALL_CMD_PROFILE_OUTPUT_H

#include "user/analyze/profile/profile.h"
#include "user/cmd/options.h"
#include "user/cmd/output.h"

/* Opens its files, before anything is watched. Returns 0 or -errno after it has said why. */
int profile_output__open(struct profile_output *files, const struct options *options);
/* Closes them as well; likewise. */
int profile_output__write(struct profile_output *files, const struct options *options,
			  const struct output *output, struct profile *profile);

#endif
