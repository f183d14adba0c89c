@testable import MultipartCore

/// Answers of stores, from their documentation or from observation.
enum S3Answers {
  static func ok(_ body: String = "", _ headers: HeaderList = [:], status: Int = 200) -> Response {
    Response(status: status, headers: headers, body: Array(body.utf8))
  }

  static let created = """
    <?xml version="1.0" encoding="UTF-8"?>
    <InitiateMultipartUploadResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
      <Bucket>example-bucket</Bucket>
      <Key>example-object</Key>
      <UploadId>VXBsb2FkIElEIGZvciA2aWWpbmcncyBteS1tb3ZpZS5tMnRzIHVwbG9hZA</UploadId>
    </InitiateMultipartUploadResult>
    """

  static let completed = """
    <?xml version="1.0" encoding="UTF-8"?>
    <CompleteMultipartUploadResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
     <Location>http://Example-Bucket.s3.<Region>.amazonaws.com/Example-Object</Location>
     <Bucket>Example-Bucket</Bucket>
     <Key>Example-Object</Key>
     <ETag>"3858f62230ac3c915f300c664312c11f-9"</ETag>
    </CompleteMultipartUploadResult>
    """.replacing("<Region>", with: "eu-west-1")

  static let completeFailed = """
    <?xml version="1.0" encoding="UTF-8"?>
    <Error>
     <Code>InternalError</Code>
     <Message>We encountered an internal error. Please try again.</Message>
     <RequestId>656c76696e6727732072657175657374</RequestId>
     <HostId>Uuag1LuByRx9e6j5Onimru9pO4ZVKnJ2Qz7/C1NPcfTWAtRPfTaOFg==</HostId>
    </Error>
    """

  static let parts = """
    <?xml version="1.0" encoding="UTF-8"?>
    <ListPartsResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
      <Bucket>example-bucket</Bucket>
      <Key>example-object</Key>
      <UploadId>XXBsb2FkIElEIGZvciBlbHZpbmcncyVcdS1tb3ZpZS5tMnRzEEEwbG9hZA</UploadId>
      <Initiator>
          <ID>arn:aws:iam::111122223333:user/some-user-11116a31-17b5-4fb7-9df5-b288870f11xx</ID>
          <DisplayName>umat-user-11116a31-17b5-4fb7-9df5-b288870f11xx</DisplayName>
      </Initiator>
      <Owner>
        <ID>75aa57f09aa0c8caeab4f8c24e99d10f8e7faeebf76c078efc7c6caea54ba06a</ID>
        <DisplayName>someName</DisplayName>
      </Owner>
      <StorageClass>STANDARD</StorageClass>
      <PartNumberMarker>1</PartNumberMarker>
      <NextPartNumberMarker>3</NextPartNumberMarker>
      <MaxParts>2</MaxParts>
      <IsTruncated>true</IsTruncated>
      <ChecksumAlgorithm>CRC64NVME</ChecksumAlgorithm>
      <ChecksumType>FULL_OBJECT</ChecksumType>
      <Part>
        <PartNumber>2</PartNumber>
        <LastModified>2010-11-10T20:48:34.000Z</LastModified>
        <ETag>"7778aef83f66abc1fa1e8477f296d394"</ETag>
        <Size>10485760</Size>
        <ChecksumCRC64NVME>1bT8IQIx1Pk=</ChecksumCRC64NVME>
      </Part>
      <Part>
        <PartNumber>3</PartNumber>
        <LastModified>2010-11-10T20:48:33.000Z</LastModified>
        <ETag>&quot;aaaa18db4cc2f85cedef654fccc4a4x8&#34;</ETag>
        <Size>10485760</Size>
      </Part>
    </ListPartsResult>
    """

  static let uploads = """
    <?xml version="1.0" encoding="UTF-8"?>
    <ListMultipartUploadsResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
      <Bucket>bucket</Bucket>
      <KeyMarker></KeyMarker>
      <UploadIdMarker></UploadIdMarker>
      <NextKeyMarker>my-movie.m2ts</NextKeyMarker>
      <NextUploadIdMarker>YW55IGlkZWEgd2h5IGVsdmluZydzIHVwbG9hZCBmYWlsZWQ</NextUploadIdMarker>
      <MaxUploads>3</MaxUploads>
      <IsTruncated>true</IsTruncated>
      <Upload>
        <Key>my-divisor</Key>
        <UploadId>XMgbGlrZSBlbHZpbmcncyBub3QgaGF2aW5nIG11Y2ggbHVjaw</UploadId>
        <Initiator>
          <ID>arn:aws:iam::111122223333:user/user1-11111a31-17b5-4fb7-9df5-b111111f13de</ID>
          <DisplayName>user1-11111a31-17b5-4fb7-9df5-b111111f13de</DisplayName>
        </Initiator>
        <Owner>
          <ID>75aa57f09aa0c8caeab4f8c24e99d10f8e7faeebf76c078efc7c6caea54ba06a</ID>
          <DisplayName>OwnerDisplayName</DisplayName>
        </Owner>
        <StorageClass>STANDARD</StorageClass>
        <Initiated>2010-11-10T20:48:33.000Z</Initiated>
      </Upload>
      <Upload>
        <Key>my-movie.m2ts</Key>
        <UploadId>VXBsb2FkIElEIGZvciBlbHZpbmcncyBteS1tb3ZpZS5tMnRzIHVwbG9hZA</UploadId>
        <StorageClass>STANDARD</StorageClass>
        <Initiated>2010-11-10T20:48:33.000Z</Initiated>
      </Upload>
    </ListMultipartUploadsResult>
    """

  static func error(_ code: String, _ message: String = "text", _ more: String = "") -> String {
    "<?xml version=\"1.0\"?><Error><Code>\(code)</Code><Message>\(message)</Message>\(more)</Error>"
  }
}

/// The failure of `work`, or nil if it succeeds.
func s3Failure(_ work: () throws -> Void) -> Failure? {
  do {
    try work()
    return nil
  } catch {
    return error as? Failure
  }
}
