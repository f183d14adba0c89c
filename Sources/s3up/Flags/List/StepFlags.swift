import MultipartCore

extension FlagList {
  static let upload: [Flag] = [
    Flag(
      .uploadID, .value("ID"), .upload, [.partSigned, .parts, .complete, .abort], "Upload id that create printed.",
      common: [.partSigned, .parts, .complete, .abort]),
    Flag(
      .part, .value("N"), .upload, .partSigned, "Number of the part, 1 to \(S3Limits.mostParts).",
      common: .partSigned),
    Flag(
      .offset, .value("SIZE"), .upload, .part, "Where in the file the part begins.", standard: "0", common: .part),
    Flag(
      .length, .value("SIZE"), .upload, .part, "Length of the part.", standard: "to the end of the file",
      common: .part),
    Flag(
      .url, .value("URL"), .upload, ModeSet(.partByURL), "Send the part to this presigned URL; needs no credentials.",
      more: "A presigned URL is a secret while it is valid; S3UP_URL keeps it out of the process list.",
      common: .part),
    Flag(
      .partsFile, .value("FILE|-"), .upload, .complete, "Assemble the parts listed in FILE, not the server's list.",
      more: """
        The output of s3up parts, with or without --json, or one part per line: its number, a space or tab, and its \
        ETag; in any order. If the upload is gone and the object is made of these parts, the result is unchanged.
        """, names: .input, common: .complete),
    Flag(
      .allowGaps, .toggle, .upload, .complete, "Assemble the object although part numbers are missing.",
      more: "Without it every part from 1 to the last must exist.", common: .complete),
    Flag(
      .clean, .toggle, .upload, .uploads, "Abort the unfinished uploads that are recorded on this machine.",
      more: "Uploads that are running are left alone. With --dry-run nothing is aborted.", common: .uploads),
    Flag(
      .olderThan, .value("DURATION"), .upload, .uploads, "Only uploads that are older than this.",
      common: .uploads),
    Flag(
      .all, .toggle, .upload, .uploads, "With --clean: every upload of the bucket, not only this machine's.",
      more: "Needs --older-than, so that running uploads are left alone.", common: .uploads),
    Flag(
      .dryRun, .toggle, .upload, .uploads, "With --clean: print what would be aborted, without aborting anything.",
      common: .uploads),
  ]

  static let presign: [Flag] = [
    Flag(
      .method, .value("METHOD"), .presign, .presign, "What the URL is for: GET, PUT, HEAD or DELETE.",
      standard: "GET; PUT with --part", choices: PresignedURL.Method.words, common: .presign),
    Flag(
      .expires, .value("DURATION"), .presign, .presign, "How long the URL is valid: 1s to 7d.",
      more: "It expires earlier if the credentials that sign it do.", standard: "15m", common: .presign),
    Flag(
      .contentType, .value("TYPE"), .presign, .presign, "Content type that the PUT must have.", common: .presign),
    Flag(
      .contentMD5, .value("BASE64"), .presign, .presign, "MD5 that the PUT's bytes must have, in base64.",
      more: "It is signed: a request with the URL must send it as Content-MD5. One MD5 fits one part only."),
    Flag(
      .contentMD5File, .value("FILE|-"), .presign, .presign, "MD5 of each part in --part, one per line.",
      more: """
        Each line is a part's number, a space or tab, and the MD5 of its bytes in base64 or hexadecimal; in any \
        order, for exactly these parts. A request with a part's URL must send its MD5 as Content-MD5.
        """, names: .input),
    Flag(
      .uploadID, .value("ID"), .presign, .presign, "Sign parts of this upload, with --part.",
      common: .presign),
    Flag(
      .part, .value("N|A-B"), .presign, .presign, "Parts to sign, one URL on each line: 3 or 1-40."),
    Flag(.versionID, .value("ID"), .presign, .presign, "Version of the object."),
    Flag(
      .checksumMode, .toggle, .presign, .presign, "Have the store return the checksums with a GET.",
      more:
        "get proves the bytes of such a URL by them; otherwise only an ETag that is an MD5 can prove the bytes.",
      negatable: true, common: .presign),
    Flag(.responseContentType, .value("TYPE"), .presign, .presign, "Content-Type of the response to a GET."),
    Flag(
      .responseContentDisposition, .value("TEXT"), .presign, .presign,
      "Content-Disposition of the response to a GET."),
    Flag(
      .responseContentEncoding, .value("TEXT"), .presign, .presign, "Content-Encoding of the response to a GET."),
    Flag(
      .responseContentLanguage, .value("TEXT"), .presign, .presign, "Content-Language of the response to a GET."),
    Flag(.responseCacheControl, .value("TEXT"), .presign, .presign, "Cache-Control of the response to a GET."),
    Flag(.responseExpires, .value("DATE"), .presign, .presign, "Expires of the response to a GET."),
  ]
}
