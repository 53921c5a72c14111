import Foundation

/// The bytes of a transformable value that cannot be read here, since its class or its transformer is Apple's or
/// another program's, as a node's value: the next save writes the same bytes.
final class OpaqueArchive: NSObject {
    let bytes: Data

    init(_ bytes: Data) { self.bytes = bytes }

    override func isEqual(_ object: Any?) -> Bool { (object as? OpaqueArchive)?.bytes == bytes }

    override var hash: Int { bytes.hashValue }
}

extension StoredValue {
    /// The value of a node: as in key-value coding, except that bytes which cannot be read stay distinct from data.
    func nodeValue(for attribute: AttributeLayout) -> Any? { keptValue(for: attribute) ?? objectValue(for: attribute) }

    /// A node's value that says more than the one in key-value coding; nil if that says everything.
    func keptValue(for attribute: AttributeLayout) -> Any? {
        if case .object(let composite as CompositeValue) = self, !composite.kept.isEmpty { return composite }
        if case .data(let bytes) = self, attribute.type == .transformableAttributeType { return OpaqueArchive(bytes) }
        return nil
    }

    /// The stored form of a node's value.
    init(nodeValue value: Any?, for attribute: AttributeLayout) {
        if let archive = value as? OpaqueArchive {
            self = .data(archive.bytes)
        } else if let composite = value as? CompositeValue {
            self = .object(composite)
        } else {
            self = StoredValue(value, for: attribute)
        }
    }
}
