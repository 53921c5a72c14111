import Foundation

/// Brings values of a composite attribute to another version of the attribute, element by element, as a migration in
/// SQL does: renamed elements keep their values, removed ones are dropped, and new ones get their default values. What
/// was kept as JSON is taken apart.
final class CompositeConversion {
    private struct Element {
        let present: AttributeLayout
        let former: AttributeLayout?
        /// The conversion of an element that is a composite, too.
        let inner: CompositeConversion?
    }

    /// What a value is made of.
    private enum Origin {
        case nothing, elements, json
    }

    private let attribute: AttributeLayout
    private let origin: Origin
    /// Whether the value was required, so that it had no mark, and existed even without values.
    private let wasAlwaysPresent: Bool
    private let elements: [Element]

    /// - Parameters:
    ///   - former: the attribute in the source; nil for a new one.
    ///   - attribute: the composite attribute in the destination.
    convenience init(from former: AttributeLayout?, to attribute: AttributeLayout) {
        guard let former else {
            self.init(attribute, .nothing) { CompositeConversion(from: nil, to: $0) }
            return
        }
        guard former.isComposite else {
            self.init(readingJSONOf: attribute)
            return
        }
        let names = attribute.elementSources(in: former)
        let sources = Dictionary(former.elements.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        self.init(
            attribute, .elements, from: names.compactMapValues { sources[$0] }, wasAlwaysPresent: former.isAlwaysPresent
        ) { present in
            let source = names[present.name].flatMap { sources[$0] }
            guard let source else { return CompositeConversion(from: nil, to: present) }
            return Self.canConvert(source, to: present) ? CompositeConversion(from: source, to: present) : nil
        }
    }

    /// The conversion of JSON; what is nested in it is in the same JSON.
    private convenience init(readingJSONOf attribute: AttributeLayout) {
        self.init(attribute, .json) { CompositeConversion(readingJSONOf: $0) }
    }

    private init(
        _ attribute: AttributeLayout, _ origin: Origin, from formers: [String: AttributeLayout] = [:],
        wasAlwaysPresent: Bool = false, inner: (AttributeLayout) -> CompositeConversion?
    ) {
        (self.attribute, self.origin, self.wasAlwaysPresent) = (attribute, origin, wasAlwaysPresent)
        elements = attribute.elements.map { present in
            Element(
                present: present, former: formers[present.name], inner: present.isComposite ? inner(present) : nil)
        }
    }

    /// Whether an attribute's values can become a composite attribute's.
    static func canConvert(_ source: AttributeLayout, to destination: AttributeLayout) -> Bool {
        guard destination.isComposite else { return false }
        return source.isComposite || source.type == .binaryDataAttributeType && destination.tellsPresence
    }

    /// The value of the present attribute; a value that it does not accept is refused when the object is saved.
    func converted(_ value: StoredValue) -> StoredValue {
        switch (value, origin) {
        case (.object(let object as CompositeValue), .elements):
            joined(converted(object.elements), kept(of: object))
        case (.data(let data), .json): StoredValue(read(data), for: attribute)
        // Bytes that cannot be read here.
        case (.object(let object), .json): .object(UnacceptableValue(object))
        case (.null, _): StoredValue(missingValue, for: attribute)
        default: value
        }
    }

    /// The value where no element had one.
    private var missingValue: Any? { wasAlwaysPresent ? converted([:]) : absentValue }

    /// The value where there was none.
    private var absentValue: Any? {
        switch origin {
        case .nothing: attribute.isAlwaysPresent || attribute.isPresentInitially ? defaultValues : nil
        case .elements: attribute.isAlwaysPresent ? defaultValues : nil
        case .json: read(nil)
        }
    }

    // MARK: Elements

    /// The elements whose stored form is not what they show, such as bytes that cannot be read here.
    private func kept(of former: CompositeValue) -> [String: StoredValue] {
        var kept: [String: StoredValue] = [:]
        guard !former.kept.isEmpty else { return kept }
        for element in elements {
            guard let name = element.former?.name, let stored = former.kept[name],
                element.former?.type == element.present.type
            else { continue }
            kept[element.present.name] = element.inner?.converted(stored) ?? stored
        }
        return kept
    }

    /// The value of shown elements, and of those that stay as they are stored, which the attribute need not accept.
    private func joined(_ shown: [String: Any], _ kept: [String: StoredValue]) -> StoredValue {
        let others = StoredValue(shown.filter { kept[$0.key] == nil }, for: attribute)
        guard !kept.isEmpty, case .object(let object) = others, object is CompositeValue else { return others }
        return .object(CompositeValue(shown, keeping: kept))
    }

    /// The elements of a value that exists now, and did not before.
    private var defaultValues: [String: Any] {
        var result: [String: Any] = [:]
        for element in elements {
            result[element.present.name] = element.inner?.absentValue ?? element.present.description.defaultValue
        }
        return result
    }

    /// The new mark of a value that was there without one.
    private var marks: [String: Any] {
        guard wasAlwaysPresent else { return [:] }
        var marks: [String: Any] = [:]
        for element in elements where element.former == nil && element.present.isPresenceMark {
            marks[element.present.name] = StoredValue.integer(1).objectValue(for: element.present)
        }
        return marks
    }

    private func converted(_ values: [String: Any]) -> [String: Any] {
        var result = marks
        for element in elements {
            let value = element.former.flatMap { StoredValue.unwrapped(values[$0.name]) }.flatMap {
                $0 is NSNull ? nil : $0
            }
            if let value {
                result[element.present.name] = converted(value, element)
            } else if let inner = element.inner {
                result[element.present.name] = inner.missingValue
            } else if result[element.present.name] == nil,
                element.former.map(element.present.isNewlyMandatory(since:)) ?? true
            {
                result[element.present.name] = element.present.description.defaultValue
            }
        }
        return result
    }

    private func converted(_ value: Any, _ element: Element) -> Any? {
        if let inner = element.inner {
            switch (value, inner.origin) {
            case (let values as [String: Any], .elements): return inner.converted(values)
            case (let data as Data, .json): return inner.read(data)
            default: return value
            }
        }
        guard let former = element.former, let numbers = NumberConversion(from: former, to: element.present) else {
            return value
        }
        return numbers.converted(StoredValue(value, for: former)).objectValue(for: element.present)
    }

    // MARK: JSON

    /// The elements in JSON; nil for none, and the bytes themselves, which no composite attribute accepts, if they are
    /// no such JSON.
    private func read(_ data: Data?) -> Any? {
        do { return try elements(of: data.map { try NestedJSONValue($0) }) } catch { return data }
    }

    private func elements(of json: NestedJSONValue?) throws -> [String: Any]? {
        let isPresent = json.map { !$0.isNull } ?? false
        guard isPresent || attribute.isAlwaysPresent else { return nil }
        var result: [String: Any] = [:]
        for element in elements {
            let (layout, member) = (element.present, json?[element.present.nestedKey])
            if let inner = element.inner {
                result[layout.name] = try inner.elements(of: member)
            } else if layout.isPresenceMark {
                result[layout.name] = isPresent ? StoredValue.integer(1).objectValue(for: layout) : nil
            } else {
                let value = try member?.value(for: layout).objectValue(for: layout)
                result[layout.name] = value ?? (layout.description.isOptional ? nil : layout.description.defaultValue)
            }
        }
        return result
    }
}

extension AttributeLayout {
    var isComposite: Bool { type == .compositeAttributeType }

    /// Whether the attribute must have a value, and its former version need not have one.
    fileprivate func isNewlyMandatory(since former: AttributeLayout) -> Bool {
        !description.isOptional && former.description.isOptional
    }
}
