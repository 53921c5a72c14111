import Foundation

/// A form that was sent, taken apart: its fields and its files come from one reading of what may be many megabytes.
public struct SentForm: Sendable {
    /// The fields, those that are files left out.
    public let fields: HTTPFields
    /// The files that were chosen, by the names of their fields.
    public let files: [String: Data]

    /// - Parameters:
    ///   - body: what was sent.
    ///   - type: the `Content-Type` that it was sent with.
    init(_ body: Data, type: String?) {
        if let parts = type.flatMap({ MultipartForm(body, type: $0) }) {
            (fields, files) = (HTTPFields(parts.fields), parts.files)
        } else {
            (fields, files) = (HTTPFields(encoded: String(decoding: body, as: UTF8.self)), [:])
        }
    }
}
