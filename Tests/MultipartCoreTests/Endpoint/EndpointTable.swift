extension EndpointCase {
  /// The cases of names, ARNs, zones, regions and URLs.
  static let kinds = parse(
    """
    # Names
    my-bucket-2 | us-west-2 | - | https://my-bucket-2.s3.us-west-2.amazonaws.com us-west-2 s3
    abc | us-west-2 | - | https://abc.s3.us-west-2.amazonaws.com us-west-2 s3
    xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx | us-west-2 | - | https://xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx.s3.us-west-2.amazonaws.com us-west-2 s3
    alias-0a1b2c3d-s3alias | us-west-2 | - | https://alias-0a1b2c3d-s3alias.s3.us-west-2.amazonaws.com us-west-2 s3
    prefix-0a1b2c3d--ol-s3 | us-west-2 | - | https://prefix-0a1b2c3d--ol-s3.s3.us-west-2.amazonaws.com us-west-2 s3
    a.b.c | us-west-2 | - | https://s3.us-west-2.amazonaws.com/a.b.c us-west-2 s3
    Bucket | us-west-2 | - | https://s3.us-west-2.amazonaws.com/Bucket us-west-2 s3
    my_bucket | us-west-2 | - | https://s3.us-west-2.amazonaws.com/my_bucket us-west-2 s3
    ab | us-west-2 | - | https://s3.us-west-2.amazonaws.com/ab us-west-2 s3
    -abc | us-west-2 | - | https://s3.us-west-2.amazonaws.com/-abc us-west-2 s3
    abc- | us-west-2 | - | https://s3.us-west-2.amazonaws.com/abc- us-west-2 s3
    192.168.5.4 | us-west-2 | - | https://s3.us-west-2.amazonaws.com/192.168.5.4 us-west-2 s3
    xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx | us-west-2 | - | https://s3.us-west-2.amazonaws.com/xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx us-west-2 s3
    bucket | us-west-2 | virtual | https://bucket.s3.us-west-2.amazonaws.com us-west-2 s3
    a.b.c | us-west-2 | wish | https://s3.us-west-2.amazonaws.com/a.b.c us-west-2 s3
    Bucket | us-west-2 | wish | https://s3.us-west-2.amazonaws.com/Bucket us-west-2 s3
    a.b.c | us-west-2 | virtual | !certificates do not cover
    Bucket | us-west-2 | virtual | !cannot be part of a host name
    a.b.c | us-west-2 | dualstack | https://s3.dualstack.us-west-2.amazonaws.com/a.b.c us-west-2 s3
    a.b.c | us-west-2 | fips | https://s3-fips.us-west-2.amazonaws.com/a.b.c us-west-2 s3
    a.b.c | us-west-2 | accelerate | !without dots
    Bucket | us-west-2 | accelerate | !without dots
    bucket | us-west-2 | accelerate path | !never in the path
    abc.mrap | us-west-2 | - | !SigV4A
    a/b | us-west-2 | - | !cannot be the name
    tenant:bucket | us-west-2 | - | !cannot be the name
    b c | us-west-2 | http://h | !cannot be the name
    a..b | us-west-2 | http://h | !cannot be the name
    # us-east-1, its oldest name, and names that are no regions
    bucket | us-east-1 | global | https://bucket.s3.amazonaws.com us-east-1 s3
    bucket | us-east-1 | global path | https://s3.amazonaws.com/bucket us-east-1 s3
    bucket | us-east-1 | global dualstack | https://bucket.s3.dualstack.us-east-1.amazonaws.com us-east-1 s3
    bucket | us-east-1 | global fips | https://bucket.s3-fips.us-east-1.amazonaws.com us-east-1 s3
    bucket | us-east-1 | global accelerate | https://bucket.s3-accelerate.amazonaws.com us-east-1 s3
    bucket | us-west-2 | global | https://bucket.s3.us-west-2.amazonaws.com us-west-2 s3
    bucket | - | - | https://bucket.s3.us-east-1.amazonaws.com us-east-1 s3
    bucket | - | global | https://bucket.s3.amazonaws.com us-east-1 s3
    bucket | aws-global | - | https://bucket.s3.amazonaws.com us-east-1 s3
    bucket | aws-global | path | https://s3.amazonaws.com/bucket us-east-1 s3
    bucket | aws-global | dualstack | https://bucket.s3.dualstack.us-east-1.amazonaws.com us-east-1 s3
    bucket | aws-global | fips | https://bucket.s3-fips.us-east-1.amazonaws.com us-east-1 s3
    bucket | aws-global | fips dualstack | https://bucket.s3-fips.dualstack.us-east-1.amazonaws.com us-east-1 s3
    bucket | aws-global | accelerate | https://bucket.s3-accelerate.amazonaws.com us-east-1 s3
    bucket | aws-cn-global | - | !no region
    bucket | fips-us-gov-west-1 | - | !old way
    bucket | us-gov-west-1-fips | - | !old way
    bucket | eu-west-1.evil.example | - | !not the name of a region
    bucket | EU-WEST-1 | - | !not the name of a region
    bucket | eu_1 | - | !not the name of a region
    # Access points: the region, the options, the form
    arn:aws:s3:us-west-2:123456789012:accesspoint/ap | eu-west-1 | - | https://ap-123456789012.s3-accesspoint.us-west-2.amazonaws.com us-west-2 s3
    arn:aws:s3:us-west-2:123456789012:accesspoint/ap | - | - | https://ap-123456789012.s3-accesspoint.us-west-2.amazonaws.com us-west-2 s3
    arn:aws:s3:us-west-2:123456789012:accesspoint/ap | aws-global | - | https://ap-123456789012.s3-accesspoint.us-west-2.amazonaws.com us-west-2 s3
    arn:aws:s3:us-west-2:123456789012:accesspoint/ap | - | own | https://ap-123456789012.s3-accesspoint.us-west-2.amazonaws.com us-west-2 s3
    arn:aws:s3:us-west-2:123456789012:accesspoint/ap | us-west-2 | own | https://ap-123456789012.s3-accesspoint.us-west-2.amazonaws.com us-west-2 s3
    arn:aws:s3:us-west-2:123456789012:accesspoint/ap | eu-west-1 | own | !must not be used
    arn:aws:s3:us-west-2:123456789012:accesspoint/ap | cn-north-1 | - | !partition
    arn:aws:s3:us-west-2:123456789012:accesspoint/ap | us-gov-west-1 | - | !partition
    arn:aws:s3:us-west-2:123456789012:accesspoint/ap | us-west-2 | virtual | https://ap-123456789012.s3-accesspoint.us-west-2.amazonaws.com us-west-2 s3
    arn:aws:s3:us-west-2:123456789012:accesspoint/ap | us-west-2 | path | !never part of the path
    arn:aws:s3:us-west-2:123456789012:accesspoint/ap | us-west-2 | accelerate | !no S3 Transfer Acceleration
    arn:aws-cn:s3:us-west-2:123456789012:accesspoint/ap | us-west-2 | - | !names the partition
    arn:aws:s3::123456789012:accesspoint/abc.mrap | us-west-2 | - | !SigV4A
    arn:aws:s3::123456789012:accesspoint:abc.mrap | us-west-2 | - | !SigV4A
    arn:aws:s3:us-west-2:123456789012:accesspoint/ap/more | us-west-2 | - | !more after
    arn:aws:s3:us-west-2:123456789012:accesspoint | us-west-2 | - | !names no access point
    arn:aws:s3:us-west-2:123456789012:accesspoint/ | us-west-2 | - | !names no access point
    arn:aws:s3:us-west-2::accesspoint/ap | us-west-2 | - | !account id
    arn:aws:s3:us-west-2:12.34:accesspoint/ap | us-west-2 | - | !account id
    arn:aws:s3:us-west-2:123456789012:accesspoint/a_b | us-west-2 | - | !does not fit
    arn:aws:s3:us-west-2:123456789012:accesspoint/a.b | us-west-2 | - | !does not fit
    arn:aws:s3:us-west-2.evil:123456789012:accesspoint/ap | us-west-2 | - | !no valid region
    arn:aws:s3:::bucket | us-west-2 | - | !give the name alone
    arn:aws:s3:us-west-2:123456789012:job/x | us-west-2 | - | !names no access point
    arn:aws:sqs:us-west-2:123456789012:accesspoint/ap | us-west-2 | - | !not an ARN of S3
    arn:aws:s3 | us-west-2 | - | !not an ARN
    arn:aws:s3express:us-west-2:123456789012:bucket/b--usw2-az1--x-s3 | us-west-2 | - | !S3 Express
    # Object Lambda and Outposts
    arn:aws:s3-object-lambda:us-west-2:123456789012:accesspoint/ol | eu-west-1 | - | https://ol-123456789012.s3-object-lambda.us-west-2.amazonaws.com us-west-2 s3-object-lambda
    arn:aws:s3-object-lambda:us-west-2:123456789012:accesspoint:ol | us-west-2 | - | https://ol-123456789012.s3-object-lambda.us-west-2.amazonaws.com us-west-2 s3-object-lambda
    arn:aws:s3-object-lambda:us-west-2:123456789012:accesspoint/ol | eu-west-1 | own | !must not be used
    arn:aws:s3-object-lambda:us-east-1:123456789012:accesspoint/ol | aws-global | own | !must not be used
    arn:aws:s3-object-lambda:us-west-2:123456789012:accesspoint/ol | aws-global | own | !must not be used
    arn:aws:s3-object-lambda:us-east-1:123456789012:accesspoint/ol | aws-global | - | https://ol-123456789012.s3-object-lambda.us-east-1.amazonaws.com us-east-1 s3-object-lambda
    arn:aws:s3:us-east-1:123456789012:accesspoint/ap | aws-global | own | !must not be used
    arn:aws:s3-outposts:us-east-1:123456789012:outpost/op-0123456789abcdef0/accesspoint/ap | aws-global | own | !must not be used
    arn:aws:s3-object-lambda:us-west-2:123456789012:accesspoint/ol | us-west-2 | dualstack | !no dual-stack
    arn:aws:s3-object-lambda:us-west-2:123456789012:accesspoint/ol | us-west-2 | accelerate | !no Transfer Acceleration
    arn:aws:s3-object-lambda:us-west-2:123456789012:accesspoint/ol | us-west-2 | path | !never part of the path
    arn:aws:s3-object-lambda::123456789012:accesspoint/ol | us-west-2 | - | !no region
    arn:aws:s3-object-lambda:us-west-2:123456789012:other/ol | us-west-2 | - | !names no access point
    arn:aws:s3-object-lambda:us-west-2:123456789012:accesspoint/ol/x | us-west-2 | - | !more after
    arn:aws:s3-outposts:us-west-2:123456789012:outpost/op-0123456789abcdef0/accesspoint/ap | eu-west-1 | - | https://ap-123456789012.op-0123456789abcdef0.s3-outposts.us-west-2.amazonaws.com us-west-2 s3-outposts
    arn:aws:s3-outposts:us-west-2:123456789012:outpost:op-0123456789abcdef0:accesspoint:ap | us-west-2 | - | https://ap-123456789012.op-0123456789abcdef0.s3-outposts.us-west-2.amazonaws.com us-west-2 s3-outposts
    arn:aws:s3-outposts:us-west-2:123456789012:outpost/op-0123456789abcdef0/accesspoint/ap | eu-west-1 | own | !must not be used
    arn:aws:s3-outposts:us-west-2:123456789012:outpost/op-0123456789abcdef0/accesspoint/ap | us-west-2 | dualstack | !no dual-stack
    arn:aws:s3-outposts:us-west-2:123456789012:outpost/op-0123456789abcdef0/accesspoint/ap | us-west-2 | fips | !no FIPS
    arn:aws:s3-outposts:us-west-2:123456789012:outpost/op-0123456789abcdef0/accesspoint/ap | us-west-2 | accelerate | !no Transfer Acceleration
    arn:aws:s3-outposts:us-west-2:123456789012:outpost/op-0123456789abcdef0/accesspoint/ap/x | us-west-2 | - | !no access point on Outposts
    arn:aws:s3-outposts:us-west-2:123456789012:outpost/op-0123456789abcdef0/bucket/ap | us-west-2 | - | !no access point on Outposts
    arn:aws:s3-outposts:us-west-2:123456789012:outpost/op-0123456789abcdef0 | us-west-2 | - | !no access point on Outposts
    arn:aws:s3-outposts:us-west-2:123456789012:outpost/op_1/accesspoint/ap | us-west-2 | - | !outpost id
    test-accessp-o0b1d075431d83bebde8xz5w8ijx1qzlbp3i3kuse10--op-s3 | us-west-2 | - | https://test-accessp-o0b1d075431d83bebde8xz5w8ijx1qzlbp3i3kuse10--op-s3.op-0b1d075431d83bebd.s3-outposts.us-west-2.amazonaws.com us-west-2 s3-outposts
    test-accessp-e0b1d075431d83bebde8xz5w8ijx1qzlbp3i3kuse10--op-s3 | us-west-2 | - | https://test-accessp-e0b1d075431d83bebde8xz5w8ijx1qzlbp3i3kuse10--op-s3.ec2.s3-outposts.us-west-2.amazonaws.com us-west-2 s3-outposts
    test-accessp-o0b1d075431d83bebde8xz5w8ijx1qzlbp3i3kuse10--op-s3 | cn-north-1 | - | https://test-accessp-o0b1d075431d83bebde8xz5w8ijx1qzlbp3i3kuse10--op-s3.op-0b1d075431d83bebd.s3-outposts.cn-north-1.amazonaws.com.cn cn-north-1 s3-outposts
    test-accessp-f0b1d075431d83bebde8xz5w8ijx1qzlbp3i3kuse10--op-s3 | us-west-2 | - | !kind of Outposts hardware
    short--op-s3 | us-west-2 | - | !not an alias
    test-accessp-o0b1d075431d83bebde8xz5w8ijx1qzlbp3i3kuse10--op-s3 | us-west-2 | fips | !no FIPS
    # Directory buckets
    base--usw2-az1--x-s3 | us-west-2 | - | https://base--usw2-az1--x-s3.s3express-usw2-az1.us-west-2.amazonaws.com us-west-2 s3express
    base--usw2-az1--x-s3 | - | - | https://base--usw2-az1--x-s3.s3express-usw2-az1.us-west-2.amazonaws.com us-west-2 s3express
    base--usw2-az1--x-s3 | us-west-2 | dualstack | https://base--usw2-az1--x-s3.s3express-usw2-az1.dualstack.us-west-2.amazonaws.com us-west-2 s3express
    base--usw2-az1--x-s3 | us-west-2 | fips | https://base--usw2-az1--x-s3.s3express-fips-usw2-az1.us-west-2.amazonaws.com us-west-2 s3express
    base--usw2-az1--x-s3 | us-west-2 | fips dualstack | https://base--usw2-az1--x-s3.s3express-fips-usw2-az1.dualstack.us-west-2.amazonaws.com us-west-2 s3express
    base--usw2-az1--x-s3 | us-west-2 | path | https://base--usw2-az1--x-s3.s3express-usw2-az1.us-west-2.amazonaws.com us-west-2 s3express
    base--usw2-az1--x-s3 | eu-west-1 | - | !is in us-west-2
    base--usw2-az1--x-s3 | us-west-2 | accelerate | !no S3 Transfer Acceleration
    b--use1-az4--x-s3 | us-east-1 | - | https://b--use1-az4--x-s3.s3express-use1-az4.us-east-1.amazonaws.com us-east-1 s3express
    b--apne1-az4--x-s3 | ap-northeast-1 | - | https://b--apne1-az4--x-s3.s3express-apne1-az4.ap-northeast-1.amazonaws.com ap-northeast-1 s3express
    b--usw2-lax1-az1--x-s3 | us-west-2 | - | https://b--usw2-lax1-az1--x-s3.s3express-usw2-lax1-az1.us-west-2.amazonaws.com us-west-2 s3express
    b--usgw1-az1--x-s3 | us-gov-west-1 | - | https://b--usgw1-az1--x-s3.s3express-usgw1-az1.us-gov-west-1.amazonaws.com us-gov-west-1 s3express
    b--test-ab1--x-s3 | us-west-2 | - | https://b--test-ab1--x-s3.s3express-test-ab1.us-west-2.amazonaws.com us-west-2 s3express
    b--eun1-az1--x-s3 | - | - | https://b--eun1-az1--x-s3.s3express-eun1-az1.eu-north-1.amazonaws.com eu-north-1 s3express
    b--cnn1-az1--x-s3 | cn-north-1 | - | https://b--cnn1-az1--x-s3.s3express-cnn1-az1.cn-north-1.amazonaws.com.cn cn-north-1 s3express
    point--usw2-az1--xa-s3 | us-west-2 | - | https://point--usw2-az1--xa-s3.s3express-usw2-az1.us-west-2.amazonaws.com us-west-2 s3express
    point--usw2-az1--xa-s3 | us-west-2 | fips | https://point--usw2-az1--xa-s3.s3express-fips-usw2-az1.us-west-2.amazonaws.com us-west-2 s3express
    bad--x-s3 | us-west-2 | - | !
    bad--xa-s3 | us-west-2 | - | !
    b--zone--x-s3 | us-west-2 | - | !
    --usw2-az1--x-s3 | us-west-2 | - | !
    b----x-s3 | us-west-2 | - | !
    b.c--usw2-az1--x-s3 | us-west-2 | - | !cannot be the name
    # At a URL of one's own
    bucket | us-west-2 | https://store.example:9000/base | https://store.example:9000/base/bucket us-west-2 s3
    bucket | us-west-2 | path https://store.example:9000/base | https://store.example:9000/base/bucket us-west-2 s3
    bucket | us-west-2 | virtual https://store.example:9000/base | https://bucket.store.example:9000/base us-west-2 s3
    bucket | us-west-2 | wish https://store.example:9000/base | https://bucket.store.example:9000/base us-west-2 s3
    a.b | us-west-2 | wish https://store.example:9000/base | https://store.example:9000/base/a.b us-west-2 s3
    a.b | us-west-2 | wish http://h | http://a.b.h us-west-2 s3
    bucket | us-west-2 | wish http://127.0.0.1:9000 | http://127.0.0.1:9000/bucket us-west-2 s3
    bucket | us-west-2 | http://[::1]:9000 | http://[::1]:9000/bucket us-west-2 s3
    bucket | - | http://h | http://h/bucket us-east-1 s3
    bucket | aws-global | http://h | http://h/bucket us-east-1 s3
    bucket | us-east-2! | http://h | !cannot be the name of a region
    bucket | -a | http://h | !cannot be the name of a region
    bucket | a- | http://h | !cannot be the name of a region
    bucket | Kansai | http://h | !cannot be the name of a region
    bucket | RegionOne | http://h | http://h/bucket RegionOne s3
    bucket | us-west-2 | dualstack https://store.example:9000/base | !cannot be combined with an endpoint URL
    bucket | us-west-2 | fips https://store.example:9000/base | !cannot be combined with an endpoint URL
    bucket | us-west-2 | accelerate https://store.example:9000/base | !cannot be combined with an endpoint URL
    bucket | us-west-2 | https://s3-accelerate.amazonaws.com | https://bucket.s3-accelerate.amazonaws.com us-west-2 s3
    bucket | us-west-2 | https://s3-accelerate.dualstack.amazonaws.com/ | https://bucket.s3-accelerate.dualstack.amazonaws.com us-west-2 s3
    bucket | us-west-2 | https://bucket.vpce-1a2b3c4d.s3.us-west-2.vpce.amazonaws.com | https://bucket.vpce-1a2b3c4d.s3.us-west-2.vpce.amazonaws.com/bucket us-west-2 s3
    arn:aws:s3:us-west-2:123456789012:accesspoint/ap | eu-west-1 | https://store.example:9000/base | https://ap-123456789012.store.example:9000/base us-west-2 s3
    arn:aws:s3:us-west-2:123456789012:accesspoint/ap | us-west-2 | https://accesspoint.vpce-1a2b.s3.us-west-2.vpce.amazonaws.com | https://ap-123456789012.accesspoint.vpce-1a2b.s3.us-west-2.vpce.amazonaws.com us-west-2 s3
    arn:aws:s3:us-west-2:123456789012:accesspoint/ap | us-west-2 | http://127.0.0.1:9000 | !in front of an address
    arn:aws:s3:us-west-2:123456789012:accesspoint/ap | us-west-2 | path https://store.example:9000/base | !never part of the path
    arn:aws:s3-object-lambda:us-west-2:123456789012:accesspoint/ol | us-west-2 | https://store.example:9000/base | https://ol-123456789012.store.example:9000/base us-west-2 s3-object-lambda
    arn:aws:s3-outposts:us-west-2:123456789012:outpost/op-0123456789abcdef0/accesspoint/ap | us-west-2 | http://store.example/base | https://ap-123456789012.op-0123456789abcdef0.store.example us-west-2 s3-outposts
    arn:aws:s3::123456789012:accesspoint/abc.mrap | us-west-2 | https://store.example:9000/base | !SigV4A
    base--usw2-az1--x-s3 | us-west-2 | https://store.example:9000/base | https://base--usw2-az1--x-s3.store.example:9000/base us-west-2 s3express
    base--usw2-az1--x-s3 | us-west-2 | http://127.0.0.1:9000 | http://127.0.0.1:9000/base--usw2-az1--x-s3 us-west-2 s3express
    base--usw2-az1--x-s3 | us-west-2 | fips https://store.example:9000/base | !cannot be combined
    test-accessp-o0b1d075431d83bebde8xz5w8ijx1qzlbp3i3kuse10--op-s3 | us-west-2 | https://store.example:9000/base | !contains its own address
    """)
}
