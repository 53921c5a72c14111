#ifndef PIPPIN_LIBEDIT_SHIM
#define PIPPIN_LIBEDIT_SHIM

#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <editline/readline.h>

// The library's settings are variables, which Swift does not let several threads share; one thread alone reads lines.

// The library reads characters by the locale: without one of UTF-8 it drops all that are not ASCII.
static inline void line_editor_read_utf8(void) {
    setlocale(LC_CTYPE, "");
    if (strcmp(nl_langinfo(CODESET), "UTF-8") != 0) setlocale(LC_CTYPE, "C.UTF-8");
}

static inline void line_editor_complete_by(char **(*function)(const char *, int, int)) {
    rl_attempted_completion_function = function;
    rl_completer_word_break_characters = (char *)" \t\n\"'(){}[],<>=!&|.";
}

// Ctrl-C, where it is not a signal of the terminal's, clears the line that is being typed.
static inline void line_editor_clear_by_interrupt(void) { rl_parse_and_bind("bind ^C em-kill-line"); }

// What was typed so far, and where the cursor stands.
static inline const char *line_editor_text(void) { return rl_line_buffer ? rl_line_buffer : ""; }
static inline int line_editor_cursor(void) { return rl_point; }

// Nothing else is to be completed, such as files; and no space after a key that a dot may follow.
static inline void line_editor_no_files(void) {
    rl_attempted_completion_over = 1;
    rl_completion_append_character = 0;
}

#endif
