{
 "kind": "fairleak signature",
 "algorithm": "Ed25519",
 "public_key": "A6EHv/POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg=",
 "signature": "rbLX0wfKGoDDEf73iETklAlOPdfEYbBNs6Oxo5Nm6umF6AooxiYmXAne9I4VDjRNER+ozLZb7GqK9hu/MpobBQ=="
}
