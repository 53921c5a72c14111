import Foundation
import HTTPMessages

extension HTTPResponse {
    /// The body as text; empty for a stream.
    var text: String {
        guard case .data(let data) = body else { return "" }
        return String(decoding: data, as: UTF8.self)
    }
}
