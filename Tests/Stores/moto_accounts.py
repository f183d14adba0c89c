"""moto_accounts.py ENDPOINT BUCKET: makes a bucket, a user who may only assume a role, and the role, which may use it.

Until it is done the server lets everything pass; from then on it verifies signatures and policies. Prints the user's key,
its secret and the role's ARN.
"""

import json
import sys
import urllib.request

from botocore.config import Config
from botocore.session import Session

endpoint, bucket = sys.argv[1:3]
session = Session()
session.set_credentials("anybody", "anything")


def client(service):
    config = Config(proxies={}, s3={"addressing_style": "path"})  # loopback never goes through a proxy
    return session.create_client(service, region_name="us-east-1", endpoint_url=endpoint, config=config)


def allow(*actions):
    statement = {"Effect": "Allow", "Action": list(actions), "Resource": "*"}
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


iam = client("iam")
iam.create_user(UserName="tester")
iam.put_user_policy(UserName="tester", PolicyName="p", PolicyDocument=allow("sts:AssumeRole", "s3:CreateBucket"))
key = iam.create_access_key(UserName="tester")["AccessKey"]
role = iam.create_role(RoleName="uploader", AssumeRolePolicyDocument=allow("sts:AssumeRole"))["Role"]["Arn"]
iam.put_role_policy(RoleName="uploader", PolicyName="p", PolicyDocument=allow("s3:*"))
client("s3").create_bucket(Bucket=bucket)
request = urllib.request.Request(
    endpoint + "/moto-api/reset-auth", data=b"0", headers={"Content-Type": "text/plain"}, method="POST"
)
urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request)
print(key["AccessKeyId"], key["SecretAccessKey"], role)
