"""Between our schemas and what programs and models really send: halves of characters, nulls, schemas in few words."""
