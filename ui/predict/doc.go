// Package predict shows what was typed before the program at the other end of a
// slow link has shown it. It guesses, from the keys and from the screen as the
// engine has it, which cells will change and where the cursor will be; whoever
// draws puts the guesses over the screen, underlined. It does no input or output
// and keeps no time.
//
// A guess is shown only where the program echoes: after each key whose effect
// cannot be told, and after each wrong guess, nothing is shown until the program
// has confirmed one. A guess is judged when the engine says that the program has
// had time to answer the key (api.Mark), and is then gone, right or wrong.
package predict
