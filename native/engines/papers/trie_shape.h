/* trie_shape.h - branches grow and go. Law: see trie.h. */
#ifndef TM_PAPERS_TRIE_SHAPE_H
#define TM_PAPERS_TRIE_SHAPE_H

#include "engines/papers/trie.h"

/* trie_shape.c: let `constant`, whose text was walked to `spot`, hang there (TM_NO_MEMORY: unchanged), or take it out;
 * bring the marks above the spot up to date. */
int tm_trie_hang(tm_text_index *trie, const tm_spot *spot, const uint8_t *text, uint32_t length, uint32_t constant);
void tm_trie_take_down(tm_text_index *trie, const tm_spot *spot, const uint8_t *text);
void tm_trie_refresh(tm_text_index *trie, uint32_t branch);
void tm_trie_free_branches(tm_text_index *trie);

#endif
