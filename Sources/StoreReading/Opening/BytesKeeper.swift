import CoreData

/// The transformer of all transformable attributes here: their values are the bytes that the store has, in both
/// directions.
final class BytesKeeper: ValueTransformer {
    /// The name under which it is registered with its first use.
    static let name: String = {
        ValueTransformer.setValueTransformer(BytesKeeper(), forName: NSValueTransformerName("PippinKeepsBytes"))
        return "PippinKeepsBytes"
    }()

    override class func allowsReverseTransformation() -> Bool { true }

    override func transformedValue(_ value: Any?) -> Any? {
        (value as? Data) ?? (value as? NSData).map { Data(referencing: $0) }
    }

    /// None: bytes without a value stay bytes.
    override func reverseTransformedValue(_ value: Any?) -> Any? { nil }
}
