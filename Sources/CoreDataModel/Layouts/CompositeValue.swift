import Foundation

/// The value of a composite attribute.
package final class CompositeValue: NSObject {
    /// The values in key-value coding.
    package var elements: [String: Any] { ordered.map { $0.form.elements(of: $0.values) } ?? given }
    private let given: [String: Any]
    /// The values of a nested struct, in the order of its properties; their form in key-value coding is made when it is
    /// asked for. Nil for a value that came in that form.
    private let ordered: (form: any CompositeForm, values: ContiguousArray<StoredValue>)?
    package var valuesInOrder: ContiguousArray<StoredValue>? { ordered?.values }
    /// The stored form of elements that `elements` does not tell: bytes that cannot be read here, references to files
    /// that are missing, numbers beyond the attribute's type. They are written back unchanged.
    package let kept: [String: StoredValue]

    package init(_ elements: [String: Any], keeping kept: [String: StoredValue] = [:]) {
        (given, self.kept, ordered) = (elements, kept, nil)
    }

    package init(_ values: ContiguousArray<StoredValue>, in form: any CompositeForm) {
        (given, kept, ordered) = ([:], [:], (form, values))
    }

    package override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CompositeValue else { return false }
        return NSDictionary(dictionary: elements).isEqual(to: other.elements)
            && StoredValue.haveSameTexts(elements, other.elements) && kept == other.kept
    }

    /// The stored form of an element; `place` is where it probably is among the values in order.
    package func stored(_ element: AttributeLayout, near place: Int = 0) -> StoredValue {
        if let ordered { return ordered.form.value(named: element.name, near: place, in: ordered.values) }
        return kept[element.name] ?? StoredValue(given[element.name], for: element)
    }

    /// The stored form of an element of an element.
    ///
    /// - Parameters:
    ///   - path: the names of the elements on the way, and of the last one.
    ///   - attribute: the last element.
    /// - Returns: its value; `.null` if an element on the way has none.
    package func stored(at path: ArraySlice<String>, _ attribute: AttributeLayout) -> StoredValue {
        guard let name = path.first else { return .null }
        let rest = path.dropFirst()
        if let ordered {
            let value = ordered.form.value(named: name, near: 0, in: ordered.values)
            if rest.isEmpty { return value }
            guard case .object(let inner as CompositeValue) = value else { return .null }
            return inner.stored(at: rest, attribute)
        }
        if rest.isEmpty { return kept[name] ?? StoredValue(elements[name], for: attribute) }
        if case .object(let inner as CompositeValue) = kept[name] { return inner.stored(at: rest, attribute) }
        guard let inner = elements[name] as? [String: Any] else { return .null }
        return CompositeValue(inner).stored(at: rest, attribute)
    }

    /// The stand-in for an element whose file cannot be read; nil if there is none.
    package var missingElement: MissingExternalData? {
        for value in kept.values {
            if let missing = value.missingExternalData { return missing }
            if case .object(let inner as CompositeValue) = value, let missing = inner.missingElement { return missing }
        }
        return nil
    }
}

/// What the values of a nested struct are, in the order of its properties.
package protocol CompositeForm: AnyObject, Sendable {
    var names: ContiguousArray<String> { get }
    /// The values in key-value coding, without those that are missing.
    func elements(of values: ContiguousArray<StoredValue>) -> [String: Any]
}

extension CompositeForm {
    fileprivate func value(named name: String, near place: Int, in values: ContiguousArray<StoredValue>) -> StoredValue
    {
        if place < names.count, names[place] == name { return values[place] }
        return names.firstIndex(of: name).map { values[$0] } ?? .null
    }
}

extension StoredValue {
    /// A composite value of stored elements; `.null` if none has a value.
    package static func composite(_ elements: [(layout: AttributeLayout, value: StoredValue)]) -> StoredValue {
        var shown: [String: Any] = [:]
        var kept: [String: StoredValue] = [:]
        for (element, value) in elements where !value.isNull {
            let object = value.objectValue(for: element)
            if let object { shown[element.name] = object }
            if !value.isShown(as: object, element) { kept[element.name] = value }
        }
        return shown.isEmpty && kept.isEmpty ? .null : .object(CompositeValue(shown, keeping: kept))
    }

    /// Whether the value in key-value coding tells the stored form.
    private func isShown(as object: Any?, _ element: AttributeLayout) -> Bool {
        if case .object(let inner as CompositeValue) = self { return inner.kept.isEmpty }
        return StoredValue(object, for: element) == self
    }

    /// The stored form of a value that a developer sets, where what stays as it is shown stays as it is stored: the
    /// bytes of a transformable value that cannot be read here, and such elements of a composite attribute.
    package init(_ value: Any?, for attribute: AttributeLayout, replacing former: @autoclosure () -> StoredValue) {
        if attribute.type == .transformableAttributeType, let data = value as? Data, case .data(data) = former() {
            self = .data(data)
            return
        }
        guard attribute.type == .compositeAttributeType, let new = Self.unwrapped(value) as? [String: Any],
            case .object(let former as CompositeValue) = former(), !former.kept.isEmpty
        else {
            self.init(value, for: attribute)
            return
        }
        var others = new
        var kept: [String: StoredValue] = [:]
        for element in attribute.elements {
            guard let stored = former.kept[element.name] else { continue }
            if CompositeValue.isSame(new[element.name], former.elements[element.name]) {
                kept[element.name] = stored
            } else if case .object(let inner as CompositeValue) = StoredValue(
                new[element.name], for: element, replacing: stored), !inner.kept.isEmpty
            {
                kept[element.name] = .object(inner)
            } else {
                continue
            }
            others[element.name] = nil
        }
        self.init(others, for: attribute)
        guard case .object(let object) = self, object is CompositeValue else { return }
        self = .object(CompositeValue(new, keeping: kept))
    }
}

extension CompositeValue {
    fileprivate static func isSame(_ one: Any?, _ other: Any?) -> Bool {
        guard let one, let other else { return one == nil && other == nil }
        return NSDictionary(dictionary: ["": one]).isEqual(to: ["": other]) && StoredValue.haveSameTexts(one, other)
    }
}

extension NSDecimalNumber {
    /// The number in a text as SQLite writes it. A number that SQLite keeps in floating point has a fraction,
    /// `1.0e-128`, whose digit Foundation has no exponent for.
    ///
    /// - Parameter text: the text.
    /// - Returns: the number; not a number for a text that is none.
    package static func stored(_ text: String) -> NSDecimalNumber {
        guard let fraction = text.firstRange(of: ".0e-") else { return NSDecimalNumber(string: text) }
        return NSDecimalNumber(string: text.replacingCharacters(in: fraction, with: "e-"))
    }
}

/// Takes the place of a value whose file beside the store cannot be read.
///
/// It is written back unchanged, so that the value reappears with its file; meanwhile the property has no value.
package final class MissingExternalData: NSObject {
    /// The content of the column: the reference to the file.
    package let column: Data
    /// The file that should hold the value.
    package let file: URL
    /// Why it cannot be read.
    package let reason: String

    package init(column: Data, file: URL, reason: String) {
        self.column = column
        self.file = file
        self.reason = reason
    }

    /// One sentence that names the file.
    package var sentence: String {
        "its value is kept outside the store, in the file “\(file.path)”, which cannot be read (\(reason)). "
            + "Put the file back, or set another value."
    }

    package override func isEqual(_ object: Any?) -> Bool { (object as? MissingExternalData)?.column == column }
    package override var hash: Int { column.hashValue }
    package override var description: String { "missing: \(file.lastPathComponent)" }
}

extension StoredValue {
    /// The stand-in for a value whose file cannot be read; nil for every other value.
    package var missingExternalData: MissingExternalData? {
        guard case .object(let object) = self else { return nil }
        return object as? MissingExternalData
    }

    /// The stand-in for a value, or for an element of it, whose file cannot be read; nil for every other value.
    package var missingContent: MissingExternalData? {
        guard case .object(let object) = self else { return nil }
        return (object as? CompositeValue)?.missingElement ?? object as? MissingExternalData
    }
}
