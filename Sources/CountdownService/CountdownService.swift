// CountdownService
