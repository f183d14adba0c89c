extension EndpointCase {
  /// The cases of each partition.
  static let partitions = parse(
    """
    # Every partition and variant
    bucket | us-east-1 | - | https://bucket.s3.us-east-1.amazonaws.com us-east-1 s3
    bucket | us-east-1 | path | https://s3.us-east-1.amazonaws.com/bucket us-east-1 s3
    bucket | us-east-1 | dualstack | https://bucket.s3.dualstack.us-east-1.amazonaws.com us-east-1 s3
    bucket | us-east-1 | dualstack path | https://s3.dualstack.us-east-1.amazonaws.com/bucket us-east-1 s3
    bucket | us-east-1 | fips | https://bucket.s3-fips.us-east-1.amazonaws.com us-east-1 s3
    bucket | us-east-1 | fips path | https://s3-fips.us-east-1.amazonaws.com/bucket us-east-1 s3
    bucket | us-east-1 | fips dualstack | https://bucket.s3-fips.dualstack.us-east-1.amazonaws.com us-east-1 s3
    bucket | us-east-1 | accelerate | https://bucket.s3-accelerate.amazonaws.com us-east-1 s3
    bucket | us-east-1 | accelerate dualstack | https://bucket.s3-accelerate.dualstack.amazonaws.com us-east-1 s3
    bucket | us-east-1 | accelerate fips | !has no FIPS endpoints
    bucket | eu-west-3 | - | https://bucket.s3.eu-west-3.amazonaws.com eu-west-3 s3
    bucket | eu-west-3 | path | https://s3.eu-west-3.amazonaws.com/bucket eu-west-3 s3
    bucket | eu-west-3 | dualstack | https://bucket.s3.dualstack.eu-west-3.amazonaws.com eu-west-3 s3
    bucket | eu-west-3 | dualstack path | https://s3.dualstack.eu-west-3.amazonaws.com/bucket eu-west-3 s3
    bucket | eu-west-3 | fips | https://bucket.s3-fips.eu-west-3.amazonaws.com eu-west-3 s3
    bucket | eu-west-3 | fips path | https://s3-fips.eu-west-3.amazonaws.com/bucket eu-west-3 s3
    bucket | eu-west-3 | fips dualstack | https://bucket.s3-fips.dualstack.eu-west-3.amazonaws.com eu-west-3 s3
    bucket | eu-west-3 | accelerate | https://bucket.s3-accelerate.amazonaws.com eu-west-3 s3
    bucket | eu-west-3 | accelerate dualstack | https://bucket.s3-accelerate.dualstack.amazonaws.com eu-west-3 s3
    bucket | eu-west-3 | accelerate fips | !has no FIPS endpoints
    bucket | cn-north-1 | - | https://bucket.s3.cn-north-1.amazonaws.com.cn cn-north-1 s3
    bucket | cn-north-1 | path | https://s3.cn-north-1.amazonaws.com.cn/bucket cn-north-1 s3
    bucket | cn-north-1 | dualstack | https://bucket.s3.dualstack.cn-north-1.amazonaws.com.cn cn-north-1 s3
    bucket | cn-north-1 | dualstack path | https://s3.dualstack.cn-north-1.amazonaws.com.cn/bucket cn-north-1 s3
    bucket | cn-north-1 | fips | !no FIPS endpoints
    bucket | cn-north-1 | fips path | !no FIPS endpoints
    bucket | cn-north-1 | fips dualstack | !no FIPS endpoints
    bucket | cn-north-1 | accelerate | !no S3 Transfer Acceleration
    bucket | cn-north-1 | accelerate dualstack | !no S3 Transfer Acceleration
    bucket | cn-north-1 | accelerate fips | !has no FIPS endpoints
    bucket | us-gov-west-1 | - | https://bucket.s3.us-gov-west-1.amazonaws.com us-gov-west-1 s3
    bucket | us-gov-west-1 | path | https://s3.us-gov-west-1.amazonaws.com/bucket us-gov-west-1 s3
    bucket | us-gov-west-1 | dualstack | https://bucket.s3.dualstack.us-gov-west-1.amazonaws.com us-gov-west-1 s3
    bucket | us-gov-west-1 | dualstack path | https://s3.dualstack.us-gov-west-1.amazonaws.com/bucket us-gov-west-1 s3
    bucket | us-gov-west-1 | fips | https://bucket.s3-fips.us-gov-west-1.amazonaws.com us-gov-west-1 s3
    bucket | us-gov-west-1 | fips path | https://s3-fips.us-gov-west-1.amazonaws.com/bucket us-gov-west-1 s3
    bucket | us-gov-west-1 | fips dualstack | https://bucket.s3-fips.dualstack.us-gov-west-1.amazonaws.com us-gov-west-1 s3
    bucket | us-gov-west-1 | accelerate | !no S3 Transfer Acceleration
    bucket | us-gov-west-1 | accelerate dualstack | !no S3 Transfer Acceleration
    bucket | us-gov-west-1 | accelerate fips | !has no FIPS endpoints
    bucket | us-iso-east-1 | - | https://bucket.s3.us-iso-east-1.c2s.ic.gov us-iso-east-1 s3
    bucket | us-iso-east-1 | path | https://s3.us-iso-east-1.c2s.ic.gov/bucket us-iso-east-1 s3
    bucket | us-iso-east-1 | dualstack | https://bucket.s3.dualstack.us-iso-east-1.c2s.ic.gov us-iso-east-1 s3
    bucket | us-iso-east-1 | dualstack path | https://s3.dualstack.us-iso-east-1.c2s.ic.gov/bucket us-iso-east-1 s3
    bucket | us-iso-east-1 | fips | https://bucket.s3-fips.us-iso-east-1.c2s.ic.gov us-iso-east-1 s3
    bucket | us-iso-east-1 | fips path | https://s3-fips.us-iso-east-1.c2s.ic.gov/bucket us-iso-east-1 s3
    bucket | us-iso-east-1 | fips dualstack | https://bucket.s3-fips.dualstack.us-iso-east-1.c2s.ic.gov us-iso-east-1 s3
    bucket | us-iso-east-1 | accelerate | !no S3 Transfer Acceleration
    bucket | us-iso-east-1 | accelerate dualstack | !no S3 Transfer Acceleration
    bucket | us-iso-east-1 | accelerate fips | !has no FIPS endpoints
    bucket | us-isob-east-1 | - | https://bucket.s3.us-isob-east-1.sc2s.sgov.gov us-isob-east-1 s3
    bucket | us-isob-east-1 | path | https://s3.us-isob-east-1.sc2s.sgov.gov/bucket us-isob-east-1 s3
    bucket | us-isob-east-1 | dualstack | https://bucket.s3.dualstack.us-isob-east-1.sc2s.sgov.gov us-isob-east-1 s3
    bucket | us-isob-east-1 | dualstack path | https://s3.dualstack.us-isob-east-1.sc2s.sgov.gov/bucket us-isob-east-1 s3
    bucket | us-isob-east-1 | fips | https://bucket.s3-fips.us-isob-east-1.sc2s.sgov.gov us-isob-east-1 s3
    bucket | us-isob-east-1 | fips path | https://s3-fips.us-isob-east-1.sc2s.sgov.gov/bucket us-isob-east-1 s3
    bucket | us-isob-east-1 | fips dualstack | https://bucket.s3-fips.dualstack.us-isob-east-1.sc2s.sgov.gov us-isob-east-1 s3
    bucket | us-isob-east-1 | accelerate | !no S3 Transfer Acceleration
    bucket | us-isob-east-1 | accelerate dualstack | !no S3 Transfer Acceleration
    bucket | us-isob-east-1 | accelerate fips | !has no FIPS endpoints
    bucket | us-isof-south-1 | - | https://bucket.s3.us-isof-south-1.csp.hci.ic.gov us-isof-south-1 s3
    bucket | us-isof-south-1 | path | https://s3.us-isof-south-1.csp.hci.ic.gov/bucket us-isof-south-1 s3
    bucket | us-isof-south-1 | dualstack | https://bucket.s3.dualstack.us-isof-south-1.csp.hci.ic.gov us-isof-south-1 s3
    bucket | us-isof-south-1 | dualstack path | https://s3.dualstack.us-isof-south-1.csp.hci.ic.gov/bucket us-isof-south-1 s3
    bucket | us-isof-south-1 | fips | https://bucket.s3-fips.us-isof-south-1.csp.hci.ic.gov us-isof-south-1 s3
    bucket | us-isof-south-1 | fips path | https://s3-fips.us-isof-south-1.csp.hci.ic.gov/bucket us-isof-south-1 s3
    bucket | us-isof-south-1 | fips dualstack | https://bucket.s3-fips.dualstack.us-isof-south-1.csp.hci.ic.gov us-isof-south-1 s3
    bucket | us-isof-south-1 | accelerate | !no S3 Transfer Acceleration
    bucket | us-isof-south-1 | accelerate dualstack | !no S3 Transfer Acceleration
    bucket | us-isof-south-1 | accelerate fips | !has no FIPS endpoints
    bucket | eu-isoe-west-1 | - | https://bucket.s3.eu-isoe-west-1.cloud.adc-e.uk eu-isoe-west-1 s3
    bucket | eu-isoe-west-1 | path | https://s3.eu-isoe-west-1.cloud.adc-e.uk/bucket eu-isoe-west-1 s3
    bucket | eu-isoe-west-1 | dualstack | https://bucket.s3.dualstack.eu-isoe-west-1.cloud.adc-e.uk eu-isoe-west-1 s3
    bucket | eu-isoe-west-1 | dualstack path | https://s3.dualstack.eu-isoe-west-1.cloud.adc-e.uk/bucket eu-isoe-west-1 s3
    bucket | eu-isoe-west-1 | fips | https://bucket.s3-fips.eu-isoe-west-1.cloud.adc-e.uk eu-isoe-west-1 s3
    bucket | eu-isoe-west-1 | fips path | https://s3-fips.eu-isoe-west-1.cloud.adc-e.uk/bucket eu-isoe-west-1 s3
    bucket | eu-isoe-west-1 | fips dualstack | https://bucket.s3-fips.dualstack.eu-isoe-west-1.cloud.adc-e.uk eu-isoe-west-1 s3
    bucket | eu-isoe-west-1 | accelerate | !no S3 Transfer Acceleration
    bucket | eu-isoe-west-1 | accelerate dualstack | !no S3 Transfer Acceleration
    bucket | eu-isoe-west-1 | accelerate fips | !has no FIPS endpoints
    bucket | eusc-de-east-1 | - | https://bucket.s3.eusc-de-east-1.amazonaws.eu eusc-de-east-1 s3
    bucket | eusc-de-east-1 | path | https://s3.eusc-de-east-1.amazonaws.eu/bucket eusc-de-east-1 s3
    bucket | eusc-de-east-1 | dualstack | https://bucket.s3.dualstack.eusc-de-east-1.amazonaws.eu eusc-de-east-1 s3
    bucket | eusc-de-east-1 | dualstack path | https://s3.dualstack.eusc-de-east-1.amazonaws.eu/bucket eusc-de-east-1 s3
    bucket | eusc-de-east-1 | fips | https://bucket.s3-fips.eusc-de-east-1.amazonaws.eu eusc-de-east-1 s3
    bucket | eusc-de-east-1 | fips path | https://s3-fips.eusc-de-east-1.amazonaws.eu/bucket eusc-de-east-1 s3
    bucket | eusc-de-east-1 | fips dualstack | https://bucket.s3-fips.dualstack.eusc-de-east-1.amazonaws.eu eusc-de-east-1 s3
    bucket | eusc-de-east-1 | accelerate | !no S3 Transfer Acceleration
    bucket | eusc-de-east-1 | accelerate dualstack | !no S3 Transfer Acceleration
    bucket | eusc-de-east-1 | accelerate fips | !has no FIPS endpoints
    # Access points and Object Lambda in every partition
    arn:aws:s3:us-east-1:123456789012:accesspoint/ap | us-east-1 | - | https://ap-123456789012.s3-accesspoint.us-east-1.amazonaws.com us-east-1 s3
    arn:aws:s3:us-east-1:123456789012:accesspoint:ap | us-east-1 | dualstack | https://ap-123456789012.s3-accesspoint.dualstack.us-east-1.amazonaws.com us-east-1 s3
    arn:aws:s3:us-east-1:123456789012:accesspoint/ap | us-east-1 | fips | https://ap-123456789012.s3-accesspoint-fips.us-east-1.amazonaws.com us-east-1 s3
    arn:aws:s3:us-east-1:123456789012:accesspoint/ap | us-east-1 | fips dualstack | https://ap-123456789012.s3-accesspoint-fips.dualstack.us-east-1.amazonaws.com us-east-1 s3
    arn:aws:s3-object-lambda:us-east-1:123456789012:accesspoint/ol | us-east-1 | - | https://ol-123456789012.s3-object-lambda.us-east-1.amazonaws.com us-east-1 s3-object-lambda
    arn:aws:s3-object-lambda:us-east-1:123456789012:accesspoint/ol | us-east-1 | fips | https://ol-123456789012.s3-object-lambda-fips.us-east-1.amazonaws.com us-east-1 s3-object-lambda
    arn:aws:s3-outposts:us-east-1:123456789012:outpost/op-0123456789abcdef0/accesspoint/ap | us-east-1 | - | https://ap-123456789012.op-0123456789abcdef0.s3-outposts.us-east-1.amazonaws.com us-east-1 s3-outposts
    arn:aws:s3:eu-west-3:123456789012:accesspoint/ap | eu-west-3 | - | https://ap-123456789012.s3-accesspoint.eu-west-3.amazonaws.com eu-west-3 s3
    arn:aws:s3:eu-west-3:123456789012:accesspoint:ap | eu-west-3 | dualstack | https://ap-123456789012.s3-accesspoint.dualstack.eu-west-3.amazonaws.com eu-west-3 s3
    arn:aws:s3:eu-west-3:123456789012:accesspoint/ap | eu-west-3 | fips | https://ap-123456789012.s3-accesspoint-fips.eu-west-3.amazonaws.com eu-west-3 s3
    arn:aws:s3:eu-west-3:123456789012:accesspoint/ap | eu-west-3 | fips dualstack | https://ap-123456789012.s3-accesspoint-fips.dualstack.eu-west-3.amazonaws.com eu-west-3 s3
    arn:aws:s3-object-lambda:eu-west-3:123456789012:accesspoint/ol | eu-west-3 | - | https://ol-123456789012.s3-object-lambda.eu-west-3.amazonaws.com eu-west-3 s3-object-lambda
    arn:aws:s3-object-lambda:eu-west-3:123456789012:accesspoint/ol | eu-west-3 | fips | https://ol-123456789012.s3-object-lambda-fips.eu-west-3.amazonaws.com eu-west-3 s3-object-lambda
    arn:aws:s3-outposts:eu-west-3:123456789012:outpost/op-0123456789abcdef0/accesspoint/ap | eu-west-3 | - | https://ap-123456789012.op-0123456789abcdef0.s3-outposts.eu-west-3.amazonaws.com eu-west-3 s3-outposts
    arn:aws-cn:s3:cn-north-1:123456789012:accesspoint/ap | cn-north-1 | - | https://ap-123456789012.s3-accesspoint.cn-north-1.amazonaws.com.cn cn-north-1 s3
    arn:aws-cn:s3:cn-north-1:123456789012:accesspoint:ap | cn-north-1 | dualstack | https://ap-123456789012.s3-accesspoint.dualstack.cn-north-1.amazonaws.com.cn cn-north-1 s3
    arn:aws-cn:s3:cn-north-1:123456789012:accesspoint/ap | cn-north-1 | fips | !no FIPS endpoints
    arn:aws-cn:s3:cn-north-1:123456789012:accesspoint/ap | cn-north-1 | fips dualstack | !no FIPS endpoints
    arn:aws-cn:s3-object-lambda:cn-north-1:123456789012:accesspoint/ol | cn-north-1 | - | https://ol-123456789012.s3-object-lambda.cn-north-1.amazonaws.com.cn cn-north-1 s3-object-lambda
    arn:aws-cn:s3-object-lambda:cn-north-1:123456789012:accesspoint/ol | cn-north-1 | fips | !no FIPS endpoints
    arn:aws-cn:s3-outposts:cn-north-1:123456789012:outpost/op-0123456789abcdef0/accesspoint/ap | cn-north-1 | - | https://ap-123456789012.op-0123456789abcdef0.s3-outposts.cn-north-1.amazonaws.com.cn cn-north-1 s3-outposts
    arn:aws-us-gov:s3:us-gov-west-1:123456789012:accesspoint/ap | us-gov-west-1 | - | https://ap-123456789012.s3-accesspoint.us-gov-west-1.amazonaws.com us-gov-west-1 s3
    arn:aws-us-gov:s3:us-gov-west-1:123456789012:accesspoint:ap | us-gov-west-1 | dualstack | https://ap-123456789012.s3-accesspoint.dualstack.us-gov-west-1.amazonaws.com us-gov-west-1 s3
    arn:aws-us-gov:s3:us-gov-west-1:123456789012:accesspoint/ap | us-gov-west-1 | fips | https://ap-123456789012.s3-accesspoint-fips.us-gov-west-1.amazonaws.com us-gov-west-1 s3
    arn:aws-us-gov:s3:us-gov-west-1:123456789012:accesspoint/ap | us-gov-west-1 | fips dualstack | https://ap-123456789012.s3-accesspoint-fips.dualstack.us-gov-west-1.amazonaws.com us-gov-west-1 s3
    arn:aws-us-gov:s3-object-lambda:us-gov-west-1:123456789012:accesspoint/ol | us-gov-west-1 | - | https://ol-123456789012.s3-object-lambda.us-gov-west-1.amazonaws.com us-gov-west-1 s3-object-lambda
    arn:aws-us-gov:s3-object-lambda:us-gov-west-1:123456789012:accesspoint/ol | us-gov-west-1 | fips | https://ol-123456789012.s3-object-lambda-fips.us-gov-west-1.amazonaws.com us-gov-west-1 s3-object-lambda
    arn:aws-us-gov:s3-outposts:us-gov-west-1:123456789012:outpost/op-0123456789abcdef0/accesspoint/ap | us-gov-west-1 | - | https://ap-123456789012.op-0123456789abcdef0.s3-outposts.us-gov-west-1.amazonaws.com us-gov-west-1 s3-outposts
    arn:aws-iso:s3:us-iso-east-1:123456789012:accesspoint/ap | us-iso-east-1 | - | https://ap-123456789012.s3-accesspoint.us-iso-east-1.c2s.ic.gov us-iso-east-1 s3
    arn:aws-iso:s3:us-iso-east-1:123456789012:accesspoint:ap | us-iso-east-1 | dualstack | https://ap-123456789012.s3-accesspoint.dualstack.us-iso-east-1.c2s.ic.gov us-iso-east-1 s3
    arn:aws-iso:s3:us-iso-east-1:123456789012:accesspoint/ap | us-iso-east-1 | fips | https://ap-123456789012.s3-accesspoint-fips.us-iso-east-1.c2s.ic.gov us-iso-east-1 s3
    arn:aws-iso:s3:us-iso-east-1:123456789012:accesspoint/ap | us-iso-east-1 | fips dualstack | https://ap-123456789012.s3-accesspoint-fips.dualstack.us-iso-east-1.c2s.ic.gov us-iso-east-1 s3
    arn:aws-iso:s3-object-lambda:us-iso-east-1:123456789012:accesspoint/ol | us-iso-east-1 | - | https://ol-123456789012.s3-object-lambda.us-iso-east-1.c2s.ic.gov us-iso-east-1 s3-object-lambda
    arn:aws-iso:s3-object-lambda:us-iso-east-1:123456789012:accesspoint/ol | us-iso-east-1 | fips | https://ol-123456789012.s3-object-lambda-fips.us-iso-east-1.c2s.ic.gov us-iso-east-1 s3-object-lambda
    arn:aws-iso:s3-outposts:us-iso-east-1:123456789012:outpost/op-0123456789abcdef0/accesspoint/ap | us-iso-east-1 | - | https://ap-123456789012.op-0123456789abcdef0.s3-outposts.us-iso-east-1.c2s.ic.gov us-iso-east-1 s3-outposts
    arn:aws-iso-b:s3:us-isob-east-1:123456789012:accesspoint/ap | us-isob-east-1 | - | https://ap-123456789012.s3-accesspoint.us-isob-east-1.sc2s.sgov.gov us-isob-east-1 s3
    arn:aws-iso-b:s3:us-isob-east-1:123456789012:accesspoint:ap | us-isob-east-1 | dualstack | https://ap-123456789012.s3-accesspoint.dualstack.us-isob-east-1.sc2s.sgov.gov us-isob-east-1 s3
    arn:aws-iso-b:s3:us-isob-east-1:123456789012:accesspoint/ap | us-isob-east-1 | fips | https://ap-123456789012.s3-accesspoint-fips.us-isob-east-1.sc2s.sgov.gov us-isob-east-1 s3
    arn:aws-iso-b:s3:us-isob-east-1:123456789012:accesspoint/ap | us-isob-east-1 | fips dualstack | https://ap-123456789012.s3-accesspoint-fips.dualstack.us-isob-east-1.sc2s.sgov.gov us-isob-east-1 s3
    arn:aws-iso-b:s3-object-lambda:us-isob-east-1:123456789012:accesspoint/ol | us-isob-east-1 | - | https://ol-123456789012.s3-object-lambda.us-isob-east-1.sc2s.sgov.gov us-isob-east-1 s3-object-lambda
    arn:aws-iso-b:s3-object-lambda:us-isob-east-1:123456789012:accesspoint/ol | us-isob-east-1 | fips | https://ol-123456789012.s3-object-lambda-fips.us-isob-east-1.sc2s.sgov.gov us-isob-east-1 s3-object-lambda
    arn:aws-iso-b:s3-outposts:us-isob-east-1:123456789012:outpost/op-0123456789abcdef0/accesspoint/ap | us-isob-east-1 | - | https://ap-123456789012.op-0123456789abcdef0.s3-outposts.us-isob-east-1.sc2s.sgov.gov us-isob-east-1 s3-outposts
    arn:aws-iso-f:s3:us-isof-south-1:123456789012:accesspoint/ap | us-isof-south-1 | - | https://ap-123456789012.s3-accesspoint.us-isof-south-1.csp.hci.ic.gov us-isof-south-1 s3
    arn:aws-iso-f:s3:us-isof-south-1:123456789012:accesspoint:ap | us-isof-south-1 | dualstack | https://ap-123456789012.s3-accesspoint.dualstack.us-isof-south-1.csp.hci.ic.gov us-isof-south-1 s3
    arn:aws-iso-f:s3:us-isof-south-1:123456789012:accesspoint/ap | us-isof-south-1 | fips | https://ap-123456789012.s3-accesspoint-fips.us-isof-south-1.csp.hci.ic.gov us-isof-south-1 s3
    arn:aws-iso-f:s3:us-isof-south-1:123456789012:accesspoint/ap | us-isof-south-1 | fips dualstack | https://ap-123456789012.s3-accesspoint-fips.dualstack.us-isof-south-1.csp.hci.ic.gov us-isof-south-1 s3
    arn:aws-iso-f:s3-object-lambda:us-isof-south-1:123456789012:accesspoint/ol | us-isof-south-1 | - | https://ol-123456789012.s3-object-lambda.us-isof-south-1.csp.hci.ic.gov us-isof-south-1 s3-object-lambda
    arn:aws-iso-f:s3-object-lambda:us-isof-south-1:123456789012:accesspoint/ol | us-isof-south-1 | fips | https://ol-123456789012.s3-object-lambda-fips.us-isof-south-1.csp.hci.ic.gov us-isof-south-1 s3-object-lambda
    arn:aws-iso-f:s3-outposts:us-isof-south-1:123456789012:outpost/op-0123456789abcdef0/accesspoint/ap | us-isof-south-1 | - | https://ap-123456789012.op-0123456789abcdef0.s3-outposts.us-isof-south-1.csp.hci.ic.gov us-isof-south-1 s3-outposts
    arn:aws-iso-e:s3:eu-isoe-west-1:123456789012:accesspoint/ap | eu-isoe-west-1 | - | https://ap-123456789012.s3-accesspoint.eu-isoe-west-1.cloud.adc-e.uk eu-isoe-west-1 s3
    arn:aws-iso-e:s3:eu-isoe-west-1:123456789012:accesspoint:ap | eu-isoe-west-1 | dualstack | https://ap-123456789012.s3-accesspoint.dualstack.eu-isoe-west-1.cloud.adc-e.uk eu-isoe-west-1 s3
    arn:aws-iso-e:s3:eu-isoe-west-1:123456789012:accesspoint/ap | eu-isoe-west-1 | fips | https://ap-123456789012.s3-accesspoint-fips.eu-isoe-west-1.cloud.adc-e.uk eu-isoe-west-1 s3
    arn:aws-iso-e:s3:eu-isoe-west-1:123456789012:accesspoint/ap | eu-isoe-west-1 | fips dualstack | https://ap-123456789012.s3-accesspoint-fips.dualstack.eu-isoe-west-1.cloud.adc-e.uk eu-isoe-west-1 s3
    arn:aws-iso-e:s3-object-lambda:eu-isoe-west-1:123456789012:accesspoint/ol | eu-isoe-west-1 | - | https://ol-123456789012.s3-object-lambda.eu-isoe-west-1.cloud.adc-e.uk eu-isoe-west-1 s3-object-lambda
    arn:aws-iso-e:s3-object-lambda:eu-isoe-west-1:123456789012:accesspoint/ol | eu-isoe-west-1 | fips | https://ol-123456789012.s3-object-lambda-fips.eu-isoe-west-1.cloud.adc-e.uk eu-isoe-west-1 s3-object-lambda
    arn:aws-iso-e:s3-outposts:eu-isoe-west-1:123456789012:outpost/op-0123456789abcdef0/accesspoint/ap | eu-isoe-west-1 | - | https://ap-123456789012.op-0123456789abcdef0.s3-outposts.eu-isoe-west-1.cloud.adc-e.uk eu-isoe-west-1 s3-outposts
    arn:aws-eusc:s3:eusc-de-east-1:123456789012:accesspoint/ap | eusc-de-east-1 | - | https://ap-123456789012.s3-accesspoint.eusc-de-east-1.amazonaws.eu eusc-de-east-1 s3
    arn:aws-eusc:s3:eusc-de-east-1:123456789012:accesspoint:ap | eusc-de-east-1 | dualstack | https://ap-123456789012.s3-accesspoint.dualstack.eusc-de-east-1.amazonaws.eu eusc-de-east-1 s3
    arn:aws-eusc:s3:eusc-de-east-1:123456789012:accesspoint/ap | eusc-de-east-1 | fips | https://ap-123456789012.s3-accesspoint-fips.eusc-de-east-1.amazonaws.eu eusc-de-east-1 s3
    arn:aws-eusc:s3:eusc-de-east-1:123456789012:accesspoint/ap | eusc-de-east-1 | fips dualstack | https://ap-123456789012.s3-accesspoint-fips.dualstack.eusc-de-east-1.amazonaws.eu eusc-de-east-1 s3
    arn:aws-eusc:s3-object-lambda:eusc-de-east-1:123456789012:accesspoint/ol | eusc-de-east-1 | - | https://ol-123456789012.s3-object-lambda.eusc-de-east-1.amazonaws.eu eusc-de-east-1 s3-object-lambda
    arn:aws-eusc:s3-object-lambda:eusc-de-east-1:123456789012:accesspoint/ol | eusc-de-east-1 | fips | https://ol-123456789012.s3-object-lambda-fips.eusc-de-east-1.amazonaws.eu eusc-de-east-1 s3-object-lambda
    arn:aws-eusc:s3-outposts:eusc-de-east-1:123456789012:outpost/op-0123456789abcdef0/accesspoint/ap | eusc-de-east-1 | - | https://ap-123456789012.op-0123456789abcdef0.s3-outposts.eusc-de-east-1.amazonaws.eu eusc-de-east-1 s3-outposts
    """)
}
