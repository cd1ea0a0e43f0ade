"""What every other room uses: exceptions, messages, options, progress, the backends."""
