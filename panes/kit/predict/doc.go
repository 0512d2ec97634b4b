// Package predict predicts the echo of keys on a slow link. From the keys and the engine's
// screen it guesses which cells will change and where the cursor will be; the caller draws
// the guesses over the screen, underlined. The package does no I/O and keeps no time.
//
// Guesses are shown only while the program echoes: after a key with an unknown effect, and
// after a wrong guess, nothing is shown until the program has confirmed one. A guess is
// checked once the engine reports that the program has had time to answer the key
// (api.Mark). It is dropped then, right or wrong.
package predict
