{
 "kind": "fairleak signature",
 "algorithm": "Ed25519",
 "public_key": "A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=",
 "signature": "anOkW3UMwlGzyMI6D72cKk1LjmXw+wXbd4t5IDdvaowRodV2xJP7YRUd2q37eKyiFSv0DJ+mY6B5DYnWrjL9CQ=="
}
