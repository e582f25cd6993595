// SPDX-License-Identifier: MIT
// vitest.config.mjs - vitest with the plugin, and nothing else
import codspeed from "@codspeed/vitest-plugin";
import { defineConfig } from "vitest/config";

export default defineConfig({ plugins: [codspeed()] });
