// Dates, decimals, UUIDs and URLs are what properties are made of.
@_exported import Foundation
