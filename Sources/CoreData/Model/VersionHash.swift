import Foundation

/// Our own version hashes, for models that carry none of Apple's. How Apple computes a version hash is not public.
package enum VersionHash {
    package static func hash(of property: NSPropertyDescription) -> Data {
        Data()
    }

    package static func hash(of entity: NSEntityDescription) -> Data {
        Data()
    }

    package static func checksum(of model: NSManagedObjectModel) -> String {
        ""
    }
}
