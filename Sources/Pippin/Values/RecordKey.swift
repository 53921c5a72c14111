import StoreSession

/// The value of an identifier of any type. It distinguishes the records of an entity.
package enum RecordKey: Hashable, Sendable {
    case string(String)
    case integer(Int64)
    case uuid(UUID)
    /// With the full precision of a date.
    case date(Date)
    case bytes(Data)
    /// Any other type, as a text that is different for different values.
    case other(String)

    // Texts are compared by their bytes, as a store compares them: `é` as one character and as two are two identifiers.
    // It is in place of the derived one, which the optimizer copies to every use of a set or a dictionary of keys.
    @inline(never)
    package static func == (first: RecordKey, second: RecordKey) -> Bool {
        switch (first, second) {
        case (.string(let one), .string(let other)): StoredValue.string(one) == .string(other)
        case (.integer(let one), .integer(let other)): one == other
        case (.uuid(let one), .uuid(let other)): one == other
        case (.date(let one), .date(let other)): one == other
        case (.bytes(let one), .bytes(let other)): one == other
        case (.other(let one), .other(let other)): StoredValue.string(one) == .string(other)
        default: false
        }
    }

    /// - Parameter value: an identifier as `UniqueIdentifier` or key-value coding returns it.
    package init(attributeValue value: Any) {
        switch value {
        case let string as String: self = .string(string)
        case let uuid as UUID: self = .uuid(uuid)
        case let date as Date: self = .date(date)
        case let bytes as Data: self = .bytes(bytes)
        case let number as Int: self = .integer(Int64(number))
        case let number as any BinaryInteger: self = .integer(Int64(truncatingIfNeeded: number))
        // Before numbers in general, since different decimals may be equal as `Double`.
        case let decimal as Decimal: self = .other("\(decimal)")
        // A `Float` has other digits than the same number as a `Double`.
        case let number as NSNumber: self.init(number.doubleValue)
        default: self = .other("\(value)")
        }
    }

    /// A number that is whole is the same identifier as the integer.
    private init(_ number: Double) {
        self = Int64(exactly: number).map(RecordKey.integer) ?? .other("\(number)")
    }

    /// An identifier in its stored form, without a look at its type at run time; nil for what identifies nothing.
    init?(_ value: StoredValue) {
        switch value {
        case .string(let text): self = .string(text)
        case .integer(let number): self = .integer(number)
        case .uuid(let uuid): self = .uuid(uuid)
        case .date(let seconds): self = .date(Date(timeIntervalSinceReferenceDate: seconds))
        case .data(let bytes): self = .bytes(bytes)
        case .double(let number): self.init(number)
        case .object(let object): self.init(attributeValue: object)
        case .null, .identifier: return nil
        }
    }

    /// Hashes the value alone: the keys of one entity are of one kind.
    package func hash(into hasher: inout Hasher) {
        switch self {
        case .string(let text), .other(let text): hasher.combine(text)
        case .integer(let number): hasher.combine(number)
        case .uuid(let uuid): hasher.combine(uuid)
        case .date(let date): hasher.combine(date)
        case .bytes(let bytes): hasher.combine(bytes)
        }
    }

    /// For messages.
    var text: String {
        switch self {
        case .string(let text), .other(let text): text
        case .integer(let number): "\(number)"
        case .uuid(let uuid): uuid.uuidString
        case .date(let date): "\(date)"
        case .bytes(let bytes): bytes.base64EncodedString()
        }
    }
}

extension StoredValue {
    /// An identifier in the form that rows hold; nil for one of a rare type, or whose key does not hold it, such as a
    /// whole number for a `Double`.
    ///
    /// - Parameters:
    ///   - key: the identifier.
    ///   - kind: how its attribute is stored; nil for one that cannot be an identifier.
    init?(_ key: RecordKey, of kind: AttributeKind?) {
        switch key {
        case .string(let text): self = .string(text)
        case .integer(let number): self = .integer(number)
        case .uuid(let uuid): self = .uuid(uuid)
        default: return nil
        }
        guard let kind, fits(kind) else { return nil }
    }
}

extension Array {
    /// The elements in order, in slices of up to `size`. By default a slice has as many identifiers as one statement
    /// asks for.
    package func portions(of size: Int = Portion.identifiers) -> [ArraySlice<Element>] {
        stride(from: 0, to: count, by: size).map { self[$0..<Swift.min($0 + size, count)] }
    }
}

package enum Portion {
    /// The largest number of identifiers that one statement asks for.
    package static let identifiers = 500
}
