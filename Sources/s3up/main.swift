print("s3up")
