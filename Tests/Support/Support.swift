/// Shared by the tests.
package enum Support {}
