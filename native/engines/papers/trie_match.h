/* trie_match.h - one text against all constants of a trie. Law: see trie.h. */
#ifndef TM_PAPERS_TRIE_MATCH_H
#define TM_PAPERS_TRIE_MATCH_H

#include "engines/papers/trie.h"

/* As `match` of tm_text_class. */
void tm_trie_match(const tm_text_index *trie, const uint8_t *text, uint32_t length, tm_found *found);

#endif
