import CompactCollections
import Foundation

extension Value {
    /// The value as a format string spells it.
    package var format: String {
        switch self {
        case .null: "nil"
        case .integer(let value): String(value)
        case .double(let value): value.isFinite ? value.description : "CAST(\"\(value)\", \"NSNumber\")"
        case .decimal(let value): "CAST(\(value.stringValue.quoted), \"NSDecimalNumber\")"
        case .string(let value): value.quoted
        case .date(let value): "CAST(\(seconds(value)), \"NSDate\")"
        case .data(let value): "CAST(\"\(value.base64EncodedString())\", \"NSData\")"
        case .uuid(let value): "CAST(\"\(value.uuidString)\", \"NSUUID\")"
        case .url(let value): "CAST(\(value.absoluteString.quoted), \"NSURL\")"
        case .collection(let elements): "{\(elements.map(\.format).joined(separator: ", "))}"
        case .object(let reference): String(describing: reference.object)
        }
    }

    /// Like ``format``, with whole numbers without a fraction.
    var formatInComparison: String {
        switch self {
        case .double(let value) where value == value.rounded() && abs(value) < 1e15:
            value.sign == .minus && value == 0 ? "-0.0" : String(Int64(value))
        case .collection(let elements): "{\(elements.map(\.formatInComparison).joined(separator: ", "))}"
        default: format
        }
    }

    /// Six digits after the point, as Core Data prints dates, or more if necessary.
    private func seconds(_ date: Date) -> String {
        let seconds = date.timeIntervalSinceReferenceDate
        let text = String(format: "%.6f", seconds)
        return Double(text) == seconds ? text : seconds.description
    }
}
