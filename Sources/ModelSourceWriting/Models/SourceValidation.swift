import CompactCollections
import Foundation
import ModelFiles

/// Validation predicates as the fields of the editor: bounds and a pattern. Pure; `SourceReader.attributeValidation` is
/// the inverse, and decides whether the fields express everything.
struct SourceValidation {
    static let patternKey = "regularExpressionString"
    /// The XML attributes, in the editor's order; empty if the editor cannot have written the predicates.
    private(set) var attributes: [(name: String, value: String)] = []

    var pattern: String? { attributes.first { $0.name == Self.patternKey }?.value }

    init(_ validation: [ValidationDocument], type: NSAttributeType) {
        let isDate = type == .dateAttributeType
        var found: [(name: String, value: String)] = []
        for entry in validation {
            guard case .comparison(let tree) = entry.predicate, case .constant(let constant) = tree.right,
                let value = ModelValue(object: constant.any ?? NSNull())
            else { return }
            switch tree.comparison {
            case .greaterThanOrEqualTo, .lessThanOrEqualTo:
                let side = tree.comparison == .greaterThanOrEqualTo ? "min" : "max"
                guard let text = SourceValueText.text(of: value, type: SourceReader.boundType(of: type)) else { return }
                found.append((side + (isDate ? "DateTimeInterval" : "ValueString"), text))
            case .matches:
                guard case .string(let pattern) = value else { return }
                found.append((Self.patternKey, pattern))
            default: return
            }
        }
        // Reading the attributes must give the same predicates, including error codes and order.
        let written = Dictionary(found.map { ($0.name, $0.value) }) { first, _ in first }
        guard SourceReader.attributeValidation(ofXMLAttributes: written, type) == validation else { return }
        attributes = found
    }
}
