// Package shell makes interactive shells tell where their prompts, commands and
// outputs begin and end (OSC 133 and 633). It holds the scripts that do so and
// says how a shell is started for it to read them behind the person's own files.
// What the marks mean to the engine is not its business.
package shell
