import Foundation
import PredicateFormat

/// The order of results, by sort descriptors and by section.
struct ResultOrder {
    private let terms: [SortTerm]?
    private let descriptors: [NSSortDescriptor]
    private let sectionKeys: [String]?

    init(_ descriptors: [NSSortDescriptor], sectionNameKeyPath: String?) {
        self.descriptors = descriptors
        // Descriptors with code have no terms, and compare objects themselves.
        terms = try? sortTerms(of: descriptors)
        sectionKeys = sectionNameKeyPath?.split(separator: ".").map(String.init)
    }

    /// The order of two results.
    func compare(_ first: ResultItem, _ second: ResultItem) -> ComparisonResult {
        guard let terms, let left = first.object as? NSManagedObject, let right = second.object as? NSManagedObject
        else { return compareByDescriptors(first.object, second.object) }
        for term in terms {
            let order = term.comparison.compare(
                Value.object(left).value(forKeyPath: term.keyPath), Value.object(right).value(forKeyPath: term.keyPath))
            if order != .orderedSame {
                return term.ascending == (order == .orderedAscending) ? .orderedAscending : .orderedDescending
            }
        }
        return .orderedSame
    }

    private func compareByDescriptors(_ first: NSObject, _ second: NSObject) -> ComparisonResult {
        for descriptor in descriptors {
            let order = descriptor.compare(first, to: second)
            if order != .orderedSame { return order }
        }
        return .orderedSame
    }

    /// The name of a result's section: the value of the section's key path, as text; empty for none.
    func sectionName(_ item: ResultItem) -> String {
        guard let sectionKeys else { return "" }
        var value: Any? = item.object
        for key in sectionKeys {
            switch value {
            case let object as NSManagedObject: value = object.value(forKey: key)
            case let dictionary as NSDictionary: value = dictionary.object(forKey: key)
            default: value = KeyValuePath.value(of: value, [key])
            }
        }
        switch value {
        case nil, is NSNull: return ""
        case let text as String: return text
        case let number as NSNumber: return number.plainText
        case let value?: return "\(value)"
        }
    }
}
